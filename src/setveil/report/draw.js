// Draws the charts of a page, as wide as it is. What is there for those who see no charts, an explanation and open tables, is put away here.
(() => {
  "use strict";
  const page = JSON.parse(document.getElementById("charts").textContent);
  const drawn = new Map();

  const narrow = 480;

  // How many names of a legend fit side by side.
  function columns(spec, width) {
    const names = [spec, ...(spec.layer ?? [])].flatMap((part) => part.encoding?.color?.scale?.domain ?? []);
    const longest = Math.max(1, ...names.map((name) => name.length));
    return Math.max(1, Math.floor((width - 80) / (40 + 7 * longest)));
  }

  const settings = (spec, place) => ({
    mode: "vega-lite",
    renderer: "svg",
    actions: false,
    ast: true, // expressions are interpreted: the page allows no code but its own
    defaultStyle: false, // the style sheet of the page has all rules: a page may allow no other
    tooltip: { theme: "light", disableDefaultStyle: true },
    config: {
      ...page.look,
      legend: { ...page.look.legend, columns: columns(spec, place.clientWidth) },
      axisY: { labelLimit: Math.max(80, Math.min(280, 0.36 * place.clientWidth)) },
      axisXQuantitative: { tickCount: place.clientWidth < narrow ? 3 : 6 },
      axisYQuantitative: { tickCount: 6 },
    },
  });

  async function draw(key) {
    const place = document.getElementById(key);
    try {
      drawn.get(key)?.finalize();
      drawn.set(key, await vegaEmbed(place, structuredClone(page.specs[key]), settings(page.specs[key], place)));
      place.dataset.drawn = "yes";
    } catch (error) {
      place.dataset.drawn = "no";
      place.textContent = "This chart could not be drawn; its numbers are below.";
      place.closest("figure").querySelector("details").open = true;
      console.error(error);
    }
  }

  async function drawAll() {
    document.documentElement.dataset.charts = "drawing";
    await Promise.all(Object.keys(page.specs).map(draw));
    document.documentElement.dataset.charts = "drawn";
  }

  let width = document.body.clientWidth;
  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (document.body.clientWidth !== width) {
        width = document.body.clientWidth;
        drawAll();
      }
    }, 120);
  });
  document.getElementById("no-charts").remove();
  for (const numbers of document.querySelectorAll("figure details")) numbers.open = false;
  drawAll();
})();
