// River and descent of topics. Every text goes to the charts as rich text: nothing that was published is ever mark-up.
(() => {
  const read = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // Tokens are light-dark() pairs: an element knows which of the two holds now.
  const probe = document.createElement("span");
  probe.hidden = true; document.body.append(probe);
  const token = name => { probe.className = "probe"; probe.style.color = `var(${name})`; return getComputedStyle(probe).color || read(name); };
  const font = () => getComputedStyle(document.body).fontFamily;
  const tooltip = () => ({ renderMode: "richText", confine: true, backgroundColor: token("--surface"), borderColor: token("--line"), textStyle: { color: token("--ink"), fontFamily: font(), fontSize: 12 } });

  const river = e => {
    const told = JSON.parse(e.dataset.river), chart = echarts.init(e, null, { renderer: "canvas" });
    const draw = () => chart.setOption({
      animation: false, textStyle: { fontFamily: font() },
      color: told.bands.map(b => token(`--r${b.colour}`)),
      tooltip: { ...tooltip(), trigger: "axis", axisPointer: { type: "line", lineStyle: { color: token("--edge") } },
        formatter: ps => [new Intl.DateTimeFormat([], { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hour12: false }).format(new Date(ps[0].data[0])), ...ps.map(p => `${p.data[1].toFixed(1)} %  ${p.data[2]}`)].join("\n") },
      singleAxis: { type: "time", top: 8, bottom: 28, left: 4, right: 4, axisLine: { show: false }, axisTick: { show: false }, splitLine: { show: false }, splitNumber: Math.max(2, Math.min(6, Math.round(e.clientWidth / 180))), axisLabel: { color: token("--ink-3"), fontSize: 12, hideOverlap: true, formatter: { year: "{yyyy}", month: "{d} {MMM}", day: "{d} {MMM}", hour: "{HH}:{mm}", minute: "{HH}:{mm}" } } },
      series: [{ type: "themeRiver", boundaryGap: ["6%", "6%"], itemStyle: { borderColor: token("--surface"), borderWidth: 1 },
        label: { show: false }, emphasis: { focus: "self", itemStyle: { shadowBlur: 0 } },
        data: told.bands.flatMap(b => b.shares.map((share, n) => [told.times[n], share, b.name])) }],
    }, true);
    draw();
    return { chart, draw };
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
  addEventListener("resize", () => drawn.forEach(d => d.chart.resize()));
  document.addEventListener("theme", () => drawn.forEach(d => d.draw()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach(d => d.draw()));
})();
