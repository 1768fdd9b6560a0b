// Runs before paint: the chosen theme, and the reader's zone, which the server needs to write times and draw axes.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try { const theme = localStorage.getItem("theme"); if (theme) root.dataset.theme = theme; } catch { /* the system's */ }
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  const pair = "zone=" + zone;
  const kept = () => document.cookie.split("; ").includes(pair);
  if (!kept() && root.dataset.zone !== zone) {
    document.cookie = pair + "; Path=/; Max-Age=31536000; SameSite=Lax";
    if (kept()) location.reload(); // once: from now on the server knows
  }
})();
