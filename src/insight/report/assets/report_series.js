"use strict";
// The rate over time by uPlot, with marks at saves and a line at the peak. New colours and widths draw it again.
function rate_series(rate, place) {
  const time = tools.time_unit(rate.values.length * rate.width), most = Math.max(...rate.values, rate.peak);
  const unit = tools.rate_unit(most);
  const x = rate.values.map((_, i) => (i + 0.5) * rate.width / time.size), y = rate.values.map(value => value / unit.size);
  const marks = plot => {
    const {ctx, bbox} = plot;
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    ctx.strokeStyle = tools.colour("second");
    for (const save of rate.saves) {
      const at = plot.valToPos(save / time.size, "x", true);
      if (at < bbox.left || at > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(at, bbox.top + bbox.height);
      ctx.lineTo(at, bbox.top + bbox.height - 10 * devicePixelRatio);
      ctx.stroke();
    }
    if (rate.peak > 0) {
      const at = plot.valToPos(rate.peak / unit.size, "y", true);
      ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.strokeStyle = tools.colour("faint");
      ctx.beginPath();
      ctx.moveTo(bbox.left, at);
      ctx.lineTo(bbox.left + bbox.width, at);
      ctx.stroke();
    }
    ctx.restore();
  };
  let plot;
  const draw = () => {
    if (plot) plot.destroy();
    const axis = label => ({label, stroke: tools.colour("ink"), grid: {stroke: tools.colour("line"), width: 1},
      ticks: {stroke: tools.colour("line"), width: 1}});
    plot = new uPlot({
      width: Math.max(place.clientWidth, 200), height: 260,
      scales: {x: {time: false}, y: {range: [0, most / unit.size * 1.05]}},
      series: [{label: `time (${time.name})`, value: (_, value) => value === null ? "" : tools.digits(value)},
        {label: `rate (${unit.name})`, stroke: tools.colour("accent"), width: 1.5, fill: tools.colour("accent") + "33",
         paths: uPlot.paths.stepped({align: 1}), points: {show: false},
         value: (_, value) => value === null ? "" : tools.digits(value)}],
      axes: [axis(`time since the run began (${time.name})`), {...axis(`rate (${unit.name})`), size: 64}],
      hooks: {draw: [marks]},
    }, [x, y], place);
  };
  draw();
  new ResizeObserver(() => requestAnimationFrame(() => {
    if (plot.width !== Math.max(place.clientWidth, 200)) plot.setSize({width: Math.max(place.clientWidth, 200), height: 260});
  })).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
