// The colours that a reader has chosen, before anything is drawn; the system's where none is.
(() => {
  const root = document.documentElement;
  const themes = ["", "light", "dark"];
  const show = (theme) => {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  let kept = "";
  try {
    kept = localStorage.getItem("docstow-theme") ?? "";
  } catch { /* Browsers may keep nothing for a page. */ }
  root.dataset.scripts = "";
  show(themes.includes(kept) ? kept : "");

  document.addEventListener("click", (event) => {
    if (!event.target.closest("button.theme")) return;
    const next = themes[(themes.indexOf(root.dataset.theme ?? "") + 1) % themes.length];
    show(next);
    try {
      localStorage.setItem("docstow-theme", next);
    } catch { /* It stays until the next page then. */ }
  });
  addEventListener("storage", (event) => {
    if (event.key === "docstow-theme") show(event.newValue ?? "");
  });
})();
