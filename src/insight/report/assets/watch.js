"use strict";
// The live page of a run. Texts from the run's files enter the document only as text, never as markup.

const parameters = new URLSearchParams(location.search);
const token = parameters.get("token") || sessionStorage.getItem("forebay-token") || "";
sessionStorage.setItem("forebay-token", token);  // only for this tab and this port
if (parameters.has("token")) history.replaceState(null, "", "/");

const at = (id) => document.getElementById(id);
function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Numbers as people read them, in decimal units.
function scaled(value, unit, steps) {
  if (value === null || value === undefined || !isFinite(value)) return "unknown";
  let index = 0;
  while (index + 1 < steps.length && Math.abs(value) >= 1000) { value /= 1000; ++index; }
  const digits = index === 0 && unit === "B" ? 0 : Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits) + " " + steps[index] + unit;
}
const bytes = (value) => scaled(value, "B", ["", "k", "M", "G", "T", "P"]);
const rate = (value) => value ? bytes(value) + "/s" : "none";
function duration(seconds) {
  if (seconds === null || seconds === undefined || !isFinite(seconds)) return "unknown";
  const size = Math.abs(seconds);
  if (size < 1e-3) return (seconds * 1e6).toFixed(0) + " µs";
  if (size < 1) return (seconds * 1e3).toFixed(size < 0.1 ? 1 : 0) + " ms";
  if (size < 120) return seconds.toFixed(size < 10 ? 2 : 1) + " s";
  if (size < 7200) return (seconds / 60).toFixed(0) + " min";
  if (size < 172800) return (seconds / 3600).toFixed(1) + " h";
  return (seconds / 86400).toFixed(1) + " days";
}
const clock = (seconds) => seconds ? new Date(seconds * 1000).toLocaleString() : "unknown";
const ratio = (value) => value ? value.toFixed(value < 10 ? 2 : 1) : "unknown";

// Charts.
const charts = new Map();
const axis = (label, extra) => Object.assign({label, labelSize: 20, labelFont: "12px system-ui", font: "11px system-ui",
  stroke: colour("--ink"), grid: {stroke: colour("--line"), width: 1}, ticks: {stroke: colour("--line"), width: 1}}, extra);
function chart(id, options, data) {
  if (typeof uPlot === "undefined") return;
  const box = at(id), width = Math.max(200, box.clientWidth), known = charts.get(id);
  if (known && known.key === options.key) {
    known.plot.setData(data);
    if (known.plot.width !== width) known.plot.setSize({width, height: options.height});
    charts.set(id, {...known, data});
    return;
  }
  if (known) known.plot.destroy();
  box.textContent = "";
  const make_options = {...options.plot(), width, height: options.height};
  charts.set(id, {plot: new uPlot(make_options, data, box), key: options.key, options, data});
}
function forget_chart(id) {
  const known = charts.get(id);
  if (known) known.plot.destroy();
  charts.delete(id);
  at(id).textContent = "";
}
function redraw_charts() {
  for (const [id, known] of [...charts]) {
    known.plot.destroy();
    charts.delete(id);
    chart(id, known.options, known.data);
  }
  if (newest) show_heat(newest.heat);
}
let resizing = 0;
addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(redraw_charts, 150); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw_charts);

const from_zero = (_, low, high) => [0, Math.max(high, 1) * 1.08];
const series = (label, name, value) => ({label, stroke: colour(name), width: 1.5, points: {show: false}, value: (_, v) => v === null || v === undefined ? "\u2013" : value(v)});
function name_chart(id, text) {
  at(id + "-chart").setAttribute("role", "img");
  at(id + "-chart").setAttribute("aria-label", text);
  at(id + "-caption").textContent = text;
}
function show_rates(state) {
  const rates = state.rates;
  if (rates.at.length === 0) { forget_chart("rates-chart"); at("rates-caption").textContent = "No save is reported yet."; return; }
  chart("rates-chart", {key: "rates", height: 220, plot: () => ({
    scales: {x: {time: true}, y: {range: from_zero}},
    axes: [axis("time"), axis("MB/s", {size: 60})],
    series: [{label: "time"}, series("saved, MB/s", "--second", (v) => v.toFixed(1)), series("drained, MB/s", "--accent", (v) => v.toFixed(1))]})},
    [rates.at, rates.saved.map((v) => v / 1e6), rates.drained.map((v) => v / 1e6)]);
  name_chart("rates", "Rates over time, all nodes together: saved by the application and drained to the target, in MB/s. "
    + "Peak of draining " + rate(state.totals.rate_peak) + ", median " + rate(state.totals.rate_median) + ".");
}
function show_saves(state) {
  const saves = state.saves;
  if (saves.length === 0) { forget_chart("saves-chart"); at("saves-caption").textContent = ""; return; }
  chart("saves-chart", {key: "saves", height: 200, plot: () => ({
    scales: {x: {time: true}, y: {distr: 3}},
    axes: [axis("time"), axis("seconds, logarithmic", {size: 60, values: (_, splits) => splits.map((v) => v === null ? "" : String(Number(v.toPrecision(3))))})],
    series: [{label: "save at"}, series("blocked, s", "--second", (v) => v.toFixed(4)), series("drain, s", "--accent", (v) => v.toFixed(3))]
      .map((one, i) => i ? {...one, points: {show: true, size: 4}} : one)})},
    [saves.map((s) => s.at), saves.map((s) => s.blocked > 0 ? s.blocked : null), saves.map((s) => s.drain > 0 ? s.drain : null)]);
  name_chart("saves", "Each save: seconds that it blocked the application, and seconds of the slowest drain. Median "
    + duration(state.blocked.median) + " blocked, 95 % at most " + duration(state.blocked.p95) + ". All saves together: " + state.blocked_parts + ".");
}
function show_backlog(state) {
  const samples = state.now.samples;
  if (samples.length < 2) { forget_chart("backlog-chart"); at("backlog-caption").textContent = ""; return; }
  chart("backlog-chart", {key: "backlog", height: 180, plot: () => ({
    scales: {x: {time: true}, y: {range: from_zero}},
    axes: [axis("time"), axis("MB", {size: 60})],
    series: [{label: "time"}, series("backlog, MB", "--accent", (v) => v.toFixed(1))]})},
    [samples.map((s) => s[0]), samples.map((s) => s[1] / 1e6)]);
  name_chart("backlog", "Backlog since this page began: bytes sealed in the nodes' memory and not drained yet.");
}

// Words and numbers.
function show_standing(state) {
  at("run").textContent = state.run;
  document.title = "Forebay: " + state.run.split("/").pop();
  const names = {running: "live", silent: "agent silent", draining: "application gone", lingering: "application died", died: "application died", ended: "finished", left: "work left", unknown: "no agent"};
  at("badge").textContent = names[state.state] || state.state;
  at("badge").className = "badge " + state.state;
  let words = state.words;
  if (state.silent_since) words += " Since " + clock(state.silent_since) + ", " + duration(server_now() - state.silent_since) + " ago: " + state.silent_nodes.join(", ") + ".";
  at("words").textContent = words;
  const durable = state.durable;
  at("durable").textContent = durable.step < 0 ? "No snapshot is known to be durable."
    : "Newest durable step: " + durable.step + " of stream " + durable.stream + (durable.at ? ", " + duration(server_now() - durable.at) + " old." : ".");
  const ends = state.now.job_ends, began = state.now.began;
  at("job").hidden = !ends || ["ended", "died", "lingering"].includes(state.state);
  if (ends && began && ends > began) {
    const left = ends - server_now();
    at("job-words").textContent = left > 0 ? "The job ends in " + duration(left) + "." : "The job's time is over.";
    at("job-bar").value = Math.min(1, Math.max(0, (server_now() - began) / (ends - began)));
  }
}
function show_tiles(state) {
  const now = state.now, totals = state.totals;
  const tiles = [
    [bytes(totals.saved_bytes), "saved in " + totals.snapshots + " snapshots"],
    [totals.committed + " committed", totals.failed + " failed, " + totals.superseded + " superseded"],
    [rate(now.rate), "drained just now"],
    [bytes(now.backlog_bytes), "backlog"],
    [duration(state.blocked.count ? state.blocked.median : null), "blocked a save, median"],
    [ratio(totals.jitter), "jitter: 95 % / median of blocked"],
    [ratio(totals.slack_median), "slack: interval / drain; worst " + ratio(totals.slack_worst)],
    [(totals.hidden_ratio * 100).toFixed(1) + " %", "of the cost of saving hidden, " + state.period],
    [state.nodes, state.ranks],
  ];
  if (totals.slowdown_steps) tiles.push([totals.slowdown_percent.toFixed(2) + " %", "computing slower while draining (" + totals.slowdown_low.toFixed(2) + " to " + totals.slowdown_high.toFixed(2) + " %)"]);
  at("tiles").replaceChildren(...tiles.map(([value, words]) => { const item = make("li"); item.append(make("b", value), make("span", words)); return item; }));
}
function list_of(items, className) {
  const list = make("ul", undefined, className);
  list.append(...items.map((item) => make("li", item)));
  return list;
}
function table_of(heads, rows, numbers) {
  const table = make("table"), head = make("tr"), body = make("tbody");
  head.append(...heads.map((text) => { const cell = make("th", text); cell.scope = "col"; if (!numbers.includes(text)) cell.className = "text"; return cell; }));
  for (const row of rows) {
    const line = make("tr");
    line.append(...row.map((text, i) => make("td", text, numbers.includes(heads[i]) ? "" : "text")));
    body.append(line);
  }
  const top = make("thead");
  top.append(head);
  table.append(top, body);
  const box = make("div", undefined, "scroll");
  box.tabIndex = 0;
  box.append(table);
  return box;
}
function show_why(state) {
  at("why").replaceChildren(state.why.length ? list_of(state.why.map((one) => one.stream + " " + one.step + ": " + one.text))
    : make("p", "The records explain no slow save.", "faint"));
  at("advice").replaceChildren(...(state.advice.length ? [make("h3", "What to do"), list_of(state.advice, "advice")] : []));
}
function show_slow(state) {
  const parts = [];
  const add = (title, rows, words) => {
    if (rows.length === 0) return;
    parts.push(make("h3", title), list_of(rows.map(words)));
  };
  const slow = (one) => (one.name || "the target") + ": " + ratio(one.ratio) + " of the others' rate, by " + one.samples + " samples";
  add("Slow nodes", state.slow_nodes, slow);
  add("Slow targets", state.slow_targets, slow);
  add("Nodes with failures", state.failed_nodes, (one) => one.name + ": " + one.failures + " failures, " + one.retries + " retries");
  if (parts.length === 0) parts.push(make("p", "All nodes and targets have similar rates, and no node failed.", "faint"));
  at("slow").replaceChildren(...parts);
}

// Heat map: a row a node, a column a snapshot.
let heat_cell = [0, 0];
const heat_colour = (share) => "hsl(" + (210 + 20 * share) + " " + (30 + 40 * share) + "% " + (matchMedia("(prefers-color-scheme: dark)").matches ? 20 + 55 * share : 92 - 57 * share) + "%)";
function show_heat(heat) {
  at("heat-figure").hidden = heat.rows.length === 0;
  if (heat.rows.length === 0) return;
  const canvas = at("heat"), columns = heat.columns.length, rows = heat.rows.length;
  const row_pixels = Math.max(4, Math.min(22, Math.floor(480 / rows)));
  canvas.width = Math.max(1, canvas.clientWidth || 600);
  canvas.height = rows * row_pixels;
  const all = heat.rows.flatMap((row) => row.rates).filter((v) => v !== null);
  const low = 0, high = Math.max(...all);
  const context = canvas.getContext("2d");
  context.fillStyle = colour("--none");
  context.fillRect(0, 0, canvas.width, canvas.height);
  const wide = canvas.width / columns;
  heat.rows.forEach((row, y) => row.rates.forEach((value, x) => {
    if (value === null) return;
    context.fillStyle = heat_colour(high > low ? value / high : 1);
    context.fillRect(Math.floor(x * wide), y * row_pixels, Math.ceil(wide), row_pixels - (row_pixels > 6 ? 1 : 0));
  }));
  const every = Math.ceil(14 / row_pixels);
  at("heat-names").replaceChildren(...heat.rows.flatMap((row, y) => {
    if (y % every) return [];
    const name = make("span", row.name);
    name.style.top = (y + 0.5) * row_pixels + "px";
    name.title = row.name;
    return [name];
  }));
  const first = heat.columns[0], last = heat.columns[columns - 1];
  at("heat-steps").replaceChildren(make("span", first.stream + " step " + first.step), ...(columns > 1 ? [make("span", last.stream + " step " + last.step)] : []));
  const scale = at("heat-scale").getContext("2d");
  for (let x = 0; x < 120; ++x) { scale.fillStyle = heat_colour(x / 119); scale.fillRect(x, 0, 1, 10); }
  at("heat-low").textContent = "0 MB/s";
  at("heat-high").textContent = rate(high) + " a node";
  const text = "Rate of draining, a row a node (slowest on top) and a column a snapshot (newest on the right). Slowest: " + heat.rows[0].name + ".";
  at("heat-caption").textContent = text + (heat.rows.some((row) => row.nodes > 1) ? " Beyond the 64 slowest, nodes are grouped." : "");
  canvas.setAttribute("aria-label", text + " Arrow keys read single cells.");
}
function tell_heat(x, y) {
  if (!newest || newest.heat.rows.length === 0) return;
  const heat = newest.heat;
  heat_cell = [Math.min(Math.max(x, 0), heat.columns.length - 1), Math.min(Math.max(y, 0), heat.rows.length - 1)];
  const column = heat.columns[heat_cell[0]], row = heat.rows[heat_cell[1]], value = row.rates[heat_cell[0]];
  at("heat-cell").textContent = row.name + ", " + column.stream + " step " + column.step + ": " + (value === null ? "nothing told" : rate(value));
}
at("heat").addEventListener("pointermove", (event) => {
  if (!newest) return;
  const box = at("heat").getBoundingClientRect();
  tell_heat(Math.floor((event.clientX - box.left) / box.width * newest.heat.columns.length), Math.floor((event.clientY - box.top) / box.height * newest.heat.rows.length));
});
at("heat").addEventListener("keydown", (event) => {
  const move = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
  if (!move) return;
  event.preventDefault();
  tell_heat(heat_cell[0] + move[0], heat_cell[1] + move[1]);
});

function show_kept(state) {
  const kept = state.kept.shown;
  if (kept.length === 0) { at("kept").replaceChildren(make("p", "No snapshot is committed yet.", "faint")); return; }
  const parts = [table_of(["Stream", "Step", "Is", "Sealed"], kept.map((one) => [one.stream, String(one.step), one.standing, clock(one.sealed)]), ["Step"])];
  if (state.kept.count > kept.length) parts.push(make("p", "and " + (state.kept.count - kept.length) + " more: forebay ls", "faint"));
  at("kept").replaceChildren(...parts);
}
function show_log(state) {
  const parts = [];
  if (state.errors.length) parts.push(make("h3", "Newest error of each node"), list_of(state.errors.map((one) => one.node + ": " + one.text)));
  if (state.problems.length) parts.push(make("h3", "Missing data"), list_of(state.problems));
  if (state.events.length) parts.push(make("h3", "Events"), table_of(["When", "What", "Stream", "Step", "Node", ""],
    [...state.events].reverse().map((one) => [clock(one.at), one.event, one.stream, String(one.step), one.host, one.text]), ["Step"]));
  if (parts.length === 0) parts.push(make("p", "None.", "faint"));
  at("log").replaceChildren(...parts);
}

// The state arrives as events. If they stop, the page says so and tries again.
let newest = null, clock_offset = 0, failed_since = 0;
const server_now = () => Date.now() / 1000 + clock_offset;
function show(state) {
  newest = state;
  for (const part of [show_standing, show_tiles, show_why, show_rates, show_saves, show_backlog, show_slow, (s) => show_heat(s.heat), show_kept, show_log]) part(state);
  for (const listener of state_listeners) listener(state);
}
const state_listeners = [];
let source = null;
function listen() {
  source = new EventSource("/events?token=" + encodeURIComponent(token));
  source.addEventListener("state", (event) => {
    failed_since = 0;
    at("connection").hidden = true;
    const state = JSON.parse(event.data);
    window.forebay_seen = {told: state.told, seen: Date.now() / 1000};
    show(state);
  });
  // The server's current time. The state itself may be older, if nothing has changed since.
  source.addEventListener("clock", (event) => { clock_offset = Number(event.data) - Date.now() / 1000; });
  source.addEventListener("open", () => { failed_since = 0; at("connection").hidden = true; });
  source.addEventListener("error", () => {
    if (!failed_since) failed_since = Date.now();
    at("connection").textContent = "Connection lost: this page shows the state of " + new Date(failed_since).toLocaleTimeString() + ". Trying again.";
    at("connection").hidden = false;
    source.close();
    setTimeout(listen, Math.min(10000, 1000 + (Date.now() - failed_since) / 4));
  });
}
setInterval(() => { if (newest && !failed_since) show_standing(newest); }, 1000);
