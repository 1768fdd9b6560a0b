// River and descent of topics. Every text goes to the charts as rich text: nothing that was published is ever mark-up.
(() => {
  const read = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // Tokens are light-dark() pairs: an element knows which of the two holds now.
  const probe = document.createElement("span");
  probe.hidden = true; document.body.append(probe);
  const token = name => { probe.className = "probe"; probe.style.color = `var(${name})`; return getComputedStyle(probe).color || read(name); };
  const font = () => getComputedStyle(document.body).fontFamily;
  const tooltip = () => ({ renderMode: "richText", confine: true, backgroundColor: token("--surface"), borderColor: token("--line"), textStyle: { color: token("--ink"), fontFamily: font(), fontSize: 12 } });

  // Room for half of a date at either end.
  const EDGE = 28;
  const river = e => {
    const told = JSON.parse(e.dataset.river), chart = echarts.init(e, null, { renderer: "canvas" });
    const draw = () => chart.setOption({
      animation: false, textStyle: { fontFamily: font() },
      color: told.bands.map(b => token(`--r${b.colour}`)),
      tooltip: { ...tooltip(), trigger: "axis", axisPointer: { type: "line", lineStyle: { color: token("--edge") } },
        formatter: ps => [new Intl.DateTimeFormat([], { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hour12: false }).format(new Date(ps[0].data[0])), ...ps.map(p => `${p.data[1].toFixed(1)} %  ${told.bands[p.data[2]].name}`)].join("\n") },
      singleAxis: { type: "time", top: 8, bottom: 28, left: EDGE, right: EDGE, axisLine: { show: false }, axisTick: { show: false }, splitLine: { show: false }, splitNumber: Math.max(2, Math.min(6, Math.round(e.clientWidth / 180))), axisLabel: { color: token("--ink-3"), fontSize: 12, hideOverlap: true, formatter: { year: "{yyyy}", month: "{d} {MMM}", day: "{d} {MMM}", hour: "{HH}:{mm}", minute: "{HH}:{mm}" } } },
      series: [{ type: "themeRiver", boundaryGap: ["6%", "6%"], itemStyle: { borderColor: token("--surface"), borderWidth: 1 },
        label: { show: false }, emphasis: { focus: "self", itemStyle: { shadowBlur: 0 } },
        // By number: two topics may have one name, and the chart would take them for one band.
        data: told.bands.flatMap((b, band) => b.shares.map((share, n) => [told.times[n], share, String(band)])) }],
    }, true);
    // Names stand in the bands where they fit: bands lie on one another, centred, as the chart lays them out.
    const name = () => {
      const gap = .06, top = 8, height = (e.clientHeight - 8 - 28) * (1 - 2 * gap), from = top + (e.clientHeight - 36) * gap;
      const sums = told.times.map((_, n) => told.bands.reduce((sum, b) => sum + b.shares[n], 0)), most = Math.max(...sums), per = height / most;
      const at = told.times.map(t => new Date(t).getTime()), x = n => EDGE + (e.clientWidth - 2 * EDGE) * (at[n] - at[0]) / (at[at.length - 1] - at[0]);
      const under = sums.map(sum => (most - sum) / 2), elements = [];
      told.bands.forEach(b => {
        let best = null;
        for (const text of [b.short, b.shorter]) if (!best) told.times.forEach((_, n) => {
          const half = text.length * 3.6 + 6;
          const near = told.times.map((_, m) => m).filter(m => Math.abs(x(m) - x(n)) <= half);
          const low = Math.max(...near.map(m => under[m])), high = Math.min(...near.map(m => under[m] + b.shares[m])), room = (high - low) * per;
          if (x(n) - half >= EDGE && x(n) + half <= e.clientWidth - EDGE && room >= 17 && (!best || room > best.room)) best = { text, room, x: x(n), y: from + (low + high) / 2 * per };
        });
        if (best) elements.push({ type: "text", silent: true, z: 100, x: best.x, y: best.y, style: { text: best.text, fill: b.colour === 6 ? token("--on-accent") : token("--on-band"), font: `600 12.5px ${font()}`, align: "center", verticalAlign: "middle" } });
        b.shares.forEach((share, n) => { under[n] += share; });
      });
      chart.setOption({ graphic: { elements } });
    };
    const all = () => { draw(); name(); };
    all();
    return { chart, draw: all };
  };
  const sankey = e => {
    const told = JSON.parse(e.dataset.sankey), chart = echarts.init(e, null, { renderer: "canvas" });
    const names = new Map(told.nodes.map(n => [n.id, n.name]));
    const draw = () => chart.setOption({
      animation: false, textStyle: { fontFamily: font() }, tooltip: { ...tooltip(), formatter: p => p.dataType === "node" ? names.get(p.name) : `${names.get(p.data.source)}\n→ ${names.get(p.data.target)}` },
      series: [{ type: "sankey", left: 8, right: 180, top: 8, bottom: 8, nodeWidth: 10, draggable: false,
        label: { color: token("--ink"), fontFamily: font(), formatter: p => names.get(p.name) }, lineStyle: { color: token("--edge"), opacity: .25 },
        data: told.nodes.map(n => ({ name: n.id, itemStyle: { color: token(n.is_this ? "--accent" : "--r4"), borderWidth: 0 } })),
        links: told.links.map(l => ({ source: l.from, target: l.to, value: l.weight })) }],
    }, true);
    draw();
    return { chart, draw };
  };
  const drawn = [["#river", river], ["#sankey", sankey]].flatMap(([s, make]) => { const e = document.querySelector(s); return e && window.echarts ? [make(e)] : []; });
  document.fonts?.ready.then(() => drawn.forEach(d => d.draw())); // a canvas does not take up a font that comes later
  addEventListener("resize", () => drawn.forEach(d => { d.chart.resize(); d.draw(); }));
  document.addEventListener("theme", () => drawn.forEach(d => d.draw()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach(d => d.draw()));
})();
