// What pages do beyond their forms: follow a run, copy a text, send a file. Everything else works without it.
(() => {
  "use strict";
  document.documentElement.classList.add("js");

  // On a narrow screen, the step that this is comes into view.
  const here = document.querySelector(".steps [aria-current]");
  if (here) here.closest(".steps").scrollLeft = here.offsetLeft - 40;

  // A run: each event of the job renews the part of the page that shows it. When the job has ended, the page goes on to its result.
  const run = document.querySelector("[data-events]");
  if (run) {
    const place = location.pathname;
    let waiting = false;
    let again = false;
    const renew = async () => {
      if (waiting) { again = true; return; }
      waiting = true;
      try {
        const answer = await fetch(place, { headers: { "HX-Request": "true" } });
        if (answer.ok) {
          const page = new DOMParser().parseFromString(await answer.text(), "text/html");
          const now = page.getElementById("run");
          const next = now?.dataset.next;
          if (now) document.getElementById("run").replaceWith(now);
          if (next) { location.replace(next); return; }
          if (now && !now.dataset.events) { source.close(); now.querySelector("h1")?.focus(); }
        }
      } catch { /* the server may be starting again: the connection is tried again */ }
      setTimeout(() => { waiting = false; if (again) { again = false; renew(); } }, 400);
    };
    const source = new EventSource(run.dataset.events);
    for (const kind of ["start", "advance", "end", "note", "error", "stopped", "ended"]) source.addEventListener(kind, renew);
    source.addEventListener("open", renew);
    source.addEventListener("ended", () => source.close());
    setInterval(() => {
      const clock = document.querySelector("[data-started]");
      if (clock) clock.textContent = elapsed(Date.now() / 1000 - Number(clock.dataset.started));
    }, 1000);
  }

  function elapsed(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  }

  // Copies the text of the block that the button names.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  });
  const reveal = (root) => { for (const one of root.querySelectorAll("[data-needs-script]")) one.hidden = false; };
  reveal(document);
  document.addEventListener("htmx:afterSwap", () => reveal(document));

  // Sends a file as the body of a request, with its progress.
  for (const form of document.querySelectorAll("form[data-upload]")) {
    const said = form.querySelector("[role=status]");
    const bar = form.querySelector("progress");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [file] = form.querySelector("input[type=file]").files;
      if (!file) { said.textContent = "Choose a file first."; return; }
      const sending = new XMLHttpRequest();
      sending.open("PUT", `/api/v1/uploads/${encodeURIComponent(file.name)}`);
      sending.upload.onprogress = ({ loaded, total }) => { bar.hidden = false; bar.max = total; bar.value = loaded; };
      sending.onload = () => {
        const answer = JSON.parse(sending.responseText || "{}");
        if (sending.status === 201) {
          said.textContent = "Received.";
          location.assign(form.dataset.upload);
        } else {
          bar.hidden = true;
          said.textContent = answer.error?.message ?? "The file was not received.";
        }
      };
      sending.onerror = () => { bar.hidden = true; said.textContent = "The connection was lost; the file was not received."; };
      said.textContent = `Sending ${file.name} …`;
      sending.send(file);
    });
  }
})();
