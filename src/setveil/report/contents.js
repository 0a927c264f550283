// Marks the current section in the contents: the last one that starts above the upper third of the window.
(() => {
  "use strict";
  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [document.querySelector(link.hash), link]));
  let waiting = false;

  function mark() {
    waiting = false;
    const line = innerHeight / 3;
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const above = [...links.keys()].filter((heading) => atEnd || heading.getBoundingClientRect().top <= line);
    const current = above.at(-1) ?? [...links.keys()][0];
    for (const [heading, link] of links) {
      if (heading === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  function later() {
    if (!waiting) requestAnimationFrame(mark);
    waiting = true;
  }

  addEventListener("scroll", later, { passive: true });
  addEventListener("resize", later);
  mark();
})();
