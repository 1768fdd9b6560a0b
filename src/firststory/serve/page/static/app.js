// Everything below is an aid: reading works without it.
(() => {
  const $ = (s, e = document) => e.querySelector(s), $$ = (s, e = document) => [...e.querySelectorAll(s)];
  const root = document.documentElement;
  const keep = (key, value) => { try { localStorage.setItem(key, value); } catch { /* not kept */ } };
  const kept = key => { try { return localStorage.getItem(key); } catch { return null; } };
  const many = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

  // Selection is focus: Enter, screen readers and the rail agree.
  const items = () => $$("[data-item]").filter(e => e.offsetParent);
  let at = null, last = null, g = 0;
  const select = (e, focus = true) => {
    if (!e) return;
    if (at && at !== e) { at.classList.remove("is-selected"); at.tabIndex = -1; }
    at = e; e.tabIndex = 0; e.classList.add("is-selected");
    if (focus) { e.focus({ preventScroll: true }); e.scrollIntoView({ block: "nearest" }); }
  };
  const step = by => { const all = items(), n = all.indexOf(at); select(all[Math.max(0, Math.min(all.length - 1, n + by))]); };

  // Feedback: at once, with undo; never a dialog.
  const say = (e, words) => { const s = $(".actions__said", e); if (s) s.textContent = words; };
  const buttons = e => $$("[data-document]", e);
  const send = async (e, useful) => {
    const name = buttons(e)[0].dataset.document;
    try {
      const answer = await fetch(`/verdicts/${encodeURIComponent(name)}/feedback`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ useful }) });
      if (!answer.ok) throw new Error(answer.status);
      return true;
    } catch { say(e, "Not noted. Try again"); return false; }
  };
  const press = (e, act) => buttons(e).forEach(b => b.setAttribute("aria-pressed", b.dataset.act === act));
  const pressed = e => buttons(e).find(b => b.getAttribute("aria-pressed") === "true")?.dataset.act ?? null;
  const judge = async (e, act) => {
    if (!e || !buttons(e).length) return;
    const before = pressed(e);
    if (before === act) { await undo(e); return; }
    press(e, act);
    if (await send(e, act === "useful")) { last = e; say(e, "Noted. z to undo"); } else press(e, before);
  };
  const undo = async (e = last) => {
    if (!e || !pressed(e)) return;
    const before = pressed(e);
    press(e, null);
    if (await send(e, null)) { say(e, "Undone"); last = null; } else press(e, before);
  };
  const link = async e => {
    const address = new URL(e?.dataset.kind ? `/page/alerts/${e.id}` : location.pathname + location.search, location);
    const words = await navigator.clipboard.writeText(address).then(() => "Link copied", () => "Copy the address from the bar");
    const button = $("[data-act=link]", e || document);
    if (e && $(".actions__said", e)) say(e, words); else if (button) button.textContent = words;
  };

  // Arrival: announced in the bar, put in only when asked; what is being read stays where it is.
  const waiting = new Map();
  const wanted = () => new URLSearchParams(location.search).get("kind") || "all";
  let announced = 0;
  const announce = () => {
    const n = waiting.size, pill = $(".arrived"), say = $("[data-say]");
    if (!pill) return;
    pill.hidden = !n;
    $("[data-count]", pill).textContent = many(n, "new alert");
    document.title = (n ? `(${n}) ` : "") + document.title.replace(/^\(\d+\) /, "");
    if (n && say && Date.now() - announced > 60000) { announced = Date.now(); say.textContent = many(n, "new alert"); }
  };
  const arrive = async alert => {
    if (!["confirmed", "turn"].includes(alert.kind) || waiting.has(alert.id) || document.getElementById(alert.id)) return;
    if (!["all", alert.kind].includes(wanted()) && $("[data-feed]")) return;
    waiting.set(alert.id, null);
    if ($("[data-feed]")) {
      const answer = await fetch(`/page/cards/${encodeURIComponent(alert.id)}`).catch(() => null);
      if (answer?.ok) waiting.set(alert.id, await answer.text());
    }
    announce();
  };
  const show = () => {
    if (!waiting.size) return;
    const feed = $("[data-feed]");
    if (!feed || [...waiting.values()].includes(null)) { location.href = "/"; return; }
    const y = at?.getBoundingClientRect().top, top = scrollY < 80;
    $("[data-calm]", feed)?.remove();
    let newest = null;
    for (const html of waiting.values()) {
      const box = document.createElement("template");
      box.innerHTML = html; // made by our own templates, which escape whatever publishers wrote
      newest = box.content.firstElementChild;
      feed.prepend(newest);
    }
    waiting.clear(); announce();
    if (top || !at) select(newest); else scrollBy(0, at.getBoundingClientRect().top - y);
  };

  // Live: what is missed while the connection is cut comes when it is back.
  let source = null, place = null, lost = null, retry = 1, timer = 0;
  const clock = t => new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", hour12: false }).format(t);
  const connected = is => {
    const live = $("[data-live]"), banner = $("[data-lost]");
    if (!live) return;
    live.classList.toggle("live--off", !is);
    const word = $("[data-live-word]");
    word.dataset.word ??= word.textContent;
    word.textContent = is ? word.dataset.word : "Not connected";
    if (is) { banner.hidden = true; lost = null; retry = 1; clearInterval(timer); }
  };
  const listen = () => {
    clearInterval(timer); source?.close();
    const here = $("[data-story]")?.dataset.story;
    source = new EventSource(`/events?types=alert,status${here ? `,story&story=${encodeURIComponent(here)}` : ""}${place ? `&after=${encodeURIComponent(place)}` : ""}`);
    source.onopen = () => connected(true);
    source.onerror = () => {
      source.close();
      lost ??= new Date();
      connected(false);
      retry = Math.min(retry * 2, 30);
      let left = retry;
      const words = $("[data-lost-words]"), tell = () => {
        words.textContent = `The connection was lost at ${clock(lost)}. What you see is complete up to then. Trying again in ${left} s; nothing will be missed.`;
      };
      // The first seconds say nothing: a restart of the server is no news.
      clearInterval(timer);
      timer = setInterval(() => { left -= 1; if (left <= 0) listen(); else if (Date.now() - lost > 3000) { tell(); $("[data-lost]").hidden = false; } }, 1000);
    };
    const on = (kind, hear) => source.addEventListener(kind, ev => { if (ev.lastEventId) place = ev.lastEventId; try { hear(JSON.parse(ev.data)); } catch { /* not ours */ } });
    on("alert", arrive);
    on("story", story => {
      const here = $("[data-story]");
      if (story.status === "merged" && here?.dataset.story === story.id && !$("[data-merged]")) {
        const p = Object.assign(document.createElement("p"), { className: "note" }), a = document.createElement("a");
        p.dataset.merged = ""; a.href = `/page/stories/${encodeURIComponent(story.merged_into)}`; a.textContent = story.merged_into;
        p.append("Merged into ", a, "."); here.append(p);
      }
    });
    on("status", status => {
      const e = $("[data-live] [data-age]");
      if (e && status.last_time) { e.dataset.age = status.last_time; ages(); }
    });
  };

  // Ages refresh each minute without a redraw; those of an archive stand still.
  const ago = ms => { const s = ms / 1000, m = s / 60; return s < 5 ? "just now" : s < 60 ? `${Math.floor(s)} s ago` : m < 60 ? `${Math.floor(m)} min ago` : m < 1440 ? `${Math.round(m / 60)} h ago` : null; };
  const ages = () => {
    if (root.dataset.clock !== "wall") return;
    $$("[data-age]").forEach(e => { const words = ago(Date.now() - Date.parse(e.dataset.age)); if (words) e.textContent = words; });
  };

  // "Seen until": what came since the last visit, kept per browser, written when the page is left.
  const seen = () => {
    const feed = $("[data-feed]"), cards = feed ? $$("[data-time]", feed) : [], until = Date.parse(kept("seen") || "");
    if (!cards.length || Number.isNaN(until) || $(".seen", feed)) return;
    const fresh = cards.filter(e => Date.parse(e.dataset.time) > until);
    if (!fresh.length || fresh.length === cards.length) return;
    const line = Object.assign(document.createElement("p"), { className: "seen" }), words = document.createElement("span");
    const day = t => new Date(t).toDateString() === new Date(cards[0].dataset.time).toDateString() ? clock(t) : new Intl.DateTimeFormat([], { weekday: "short", hour: "2-digit", minute: "2-digit", hour12: false }).format(t);
    words.textContent = `Seen until ${day(until)}`;
    line.append(words); cards[fresh.length].before(line);
    const n = kind => fresh.filter(e => e.dataset.kind === kind).length, parts = [];
    if (n("confirmed")) parts.push(`${n("confirmed")} confirmed`);
    if (n("turn")) parts.push(many(n("turn"), "turn"));
    const sub = $("[data-since-last]");
    if (sub) sub.textContent = `${parts.join(" and ")} since you last looked at ${day(until)}.`;
  };
  const leave = () => { const newest = $("[data-feed] [data-time]"); if (newest) keep("seen", newest.dataset.time > (kept("seen") || "") ? newest.dataset.time : kept("seen")); };
  addEventListener("pagehide", leave);

  // What each new piece of page needs.
  const dress = () => {
    $$("details[data-fold]").forEach(e => {
      // One that is open already was opened before this ran.
      if (e.open) keep("fold-" + e.dataset.fold, "open"); else if (kept("fold-" + e.dataset.fold) === "open") e.open = true;
      e.addEventListener("toggle", () => keep("fold-" + e.dataset.fold, e.open ? "open" : "closed"));
    });
    // On a phone wide charts open at their newest column.
    $$(".chart").forEach(e => { const bar = $$(".bars rect", e).pop(); e.scrollLeft += bar ? bar.getBoundingClientRect().right - e.getBoundingClientRect().right + 24 : 0; });
    seen(); ages();
    const named = document.getElementById(location.hash.slice(1));
    if (named?.matches("[data-item]")) select(named, false); else if ($("[data-feed]")) select(items()[0], false);
  };

  const theme = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark"; keep("theme", root.dataset.theme);
    document.dispatchEvent(new Event("theme"));
  };
  const acts = { useful: e => judge(e, "useful"), not: e => judge(e, "not"), link, arrived: show, theme, keys: () => $("#keys").showModal(), print: () => print(), retry: listen };
  document.addEventListener("click", ev => {
    const b = ev.target.closest("[data-act]");
    if (!b) return;
    ev.preventDefault();
    const e = b.closest("[data-item], [data-judged]");
    if (e?.matches("[data-item]")) select(e, false);
    acts[b.dataset.act]?.(e);
  });
  document.addEventListener("focusin", ev => { const e = ev.target.closest("[data-item]"); if (e && e !== at) select(e, false); });

  // Filters are plain forms: each state is an address. With htmx only the content is changed.
  document.addEventListener("change", ev => {
    const e = ev.target.closest("[data-auto]");
    if (!e) return;
    const days = $(".days");
    if (e.value === "days" && days) { days.hidden = false; $("input", days).focus(); return; }
    if (e.name === "since" && days) { days.hidden = true; $$("input", days).forEach(one => { one.disabled = true; }); }
    e.form.requestSubmit();
  });
  document.addEventListener("change", ev => { const days = ev.target.closest(".days"); if (days && $$("input", days).every(e => e.value)) ev.target.form.requestSubmit(); });

  // The budget: what was typed stays, whatever the answer is.
  document.addEventListener("submit", async ev => {
    const form = ev.target.closest("[data-budget]");
    if (!form) return;
    ev.preventDefault();
    const out = $("[data-said]", form), wish = { budget: `${form.budget.value}/day`, false_alerts: Number(form.false_alerts.value) };
    const answer = await fetch("/settings", { method: "PATCH", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wish) }).catch(() => null);
    const told = answer ? await answer.json().catch(() => ({})) : {};
    out.textContent = answer?.ok ? "Changed. The next step of the stream applies it." : told.detail || "Not changed: the service did not answer. Try again.";
  });

  const sw = $("#keys-on");
  sw.checked = kept("keys") !== "off";
  sw.addEventListener("change", () => keep("keys", sw.checked ? "on" : "off"));
  const go = { n: "now", s: "stories", t: "topics", d: "digest", h: "health" };
  document.addEventListener("keydown", ev => {
    if (!sw.checked && !["Enter", "?"].includes(ev.key)) return;
    if (ev.ctrlKey || ev.metaKey || ev.altKey || ev.target.matches("input, select, textarea") || $("dialog[open]")) { if (ev.key === "Escape" && !$("dialog[open]")) ev.target.blur(); return; }
    if (g && go[ev.key]) { location.href = $(`[data-view=${go[ev.key]}]`).href; return; }
    g = 0;
    const judged = at?.matches("[data-kind]") ? at : $("[data-judged]");
    const act = { j: () => step(1), k: () => step(-1), u: () => judge(judged, "useful"), x: () => judge(judged, "not"), z: () => undo(), c: () => link(at?.dataset.kind ? at : null), ".": show, t: theme, "?": acts.keys, "/": () => $("#q, #q-top")?.focus(), g: () => { g = setTimeout(() => { g = 0; }, 900); } }[ev.key];
    if (act) { ev.preventDefault(); act(); } else if (ev.key === "Enter" && ev.target === at) $(".alert__title a, a[href]", at)?.click();
  });

  document.addEventListener("htmx:afterSwap", () => { announce(); dress(); });
  place = root.dataset.place || null;
  setInterval(ages, 60000);
  dress();
  listen();
})();
