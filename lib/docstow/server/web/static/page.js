// Keys, copying, and the progress of jobs. Every page works without it.
(() => {
  const field = document.getElementById("ui-q");
  const typing = (target) => target.closest("input, textarea, select, [contenteditable]");
  const entries = () => [...document.querySelectorAll(".results > li > a, .list > li > a, .member > dt > a")];
  const within = document.getElementById("ui-within");
  let leading = 0;

  function move(step) {
    const all = entries();
    if (!all.length) return;
    const at = all.indexOf(document.activeElement);
    const next = all[Math.max(0, Math.min(all.length - 1, at + step))];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  const places = { h: "/", s: "/ui/sources", p: "/ui/project", c: "/ui/check", t: "/ui/store", a: "/ui/connect" };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target)) {
      if (event.key === "Escape") event.target.blur();
      if (event.target === field && event.key === "ArrowDown") { event.preventDefault(); move(1); }
      return;
    }
    const led = Date.now() - leading < 1500;
    leading = 0;
    if (led && field && places[event.key]) location.href = places[event.key];
    else if (led && event.key === "g") scrollTo(0, 0);
    else if (event.key === "/" && field) { event.preventDefault(); field.focus(); field.select(); }
    else if (event.key === "s" && within) { event.preventDefault(); within.focus(); within.select(); }
    else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "g") leading = Date.now();
    else if (event.key === "G") scrollTo(0, document.body.scrollHeight);
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const from = button.dataset.from && document.getElementById(button.dataset.from);
    try {
      await navigator.clipboard.writeText(from ? from.textContent : button.dataset.copy);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select it";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });

  // Contents stand open beside the text, and closed above it where the page is narrow.
  if (matchMedia("(max-width: 900px)").matches)
    for (const each of document.querySelectorAll(".side details, .contents details")) each.open = false;

  const live = document.querySelector("[data-events]");
  if (live) {
    const events = new EventSource(live.dataset.events);
    events.onmessage = (event) => { live.innerHTML = event.data; };
    events.addEventListener("end", () => { events.close(); });
  }
})();
