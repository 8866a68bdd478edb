"use strict";
// Draws the pictures and tables of the page from its data.
const data = JSON.parse(document.getElementById("data").textContent);

function show_rate(rate) {
  if (!rate || !rate.values.some(value => value > 0)) return;
  const parts = [], rows = [], group = Math.ceil(rate.values.length / 50);
  for (let i = 0; i < rate.values.length; i += group) {
    const some = rate.values.slice(i, i + group);
    rows.push([i * rate.width, some.reduce((sum, each) => sum + each, 0) / some.length, Math.max(...some)]);
  }
  const place = tools.element("div", {role: "img",
    "aria-label": `Rate over time, up to ${tools.rate(Math.max(...rate.values))}; its table follows.`});
  if (typeof uPlot !== "undefined")
    parts.push(tools.figure(place, `Bytes that all nodes wrote, in parts of ${tools.seconds(rate.width)}. Marks below: ` +
      `${rate.saves.length} saves. Dashed: the fastest drain of a snapshot, ${tools.rate(rate.peak)}.`));
  parts.push(tools.folded("Table of the rate", tools.table("Rate over time",
    [["from", row => tools.seconds(row[0])], ["rate", row => tools.rate(row[1])], ["most", row => tools.rate(row[2])]], rows)));
  tools.show("rate", ...parts);
  if (typeof uPlot !== "undefined") rate_series(rate, place);
}

function show_snapshots({all, streams, outcomes, rows}) {
  if (!rows.length) return;
  const name = row => (streams.length > 1 ? streams[row[0]] + " " : "") + row[1];
  const told = row => `${streams[row[0]]} step ${row[1]}: saved in ${tools.seconds(row[2])}, drained in ${tools.seconds(row[3])}` +
    (row[4] ? `, ${tools.seconds(row[4])} after the save before` : "");
  const most = at => Math.max(...rows.map(row => row[at]));
  const words = tools.part(rows.length, all, "snapshots");
  const saves = pictures.bars({words: `Seconds that saves held the ranks, a bar each, up to ${tools.seconds(most(2))}`,
    title: "Visible", axis: "step", unit: tools.time_unit(most(2)), class_name: "save",
    bars: rows.map(row => ({name: String(row[1]), value: row[2], told: told(row)}))});
  const drains = pictures.bars({words: `Seconds of drains, a bar each, up to ${tools.seconds(most(3))}, with the time between saves`,
    title: "Drain", axis: "step", unit: tools.time_unit(Math.max(most(3), most(4))), class_name: "drain",
    bars: rows.map(row => ({name: String(row[1]), value: row[3], mark: row[4], told: told(row),
      slow: row[4] > 0 && row[3] > row[4]}))});
  tools.show("snapshots", tools.figure(saves, `How long each save held its ranks: the slowest node of each. ${words}.`),
    tools.figure(drains, "How long the slowest node drained. The line above a bar is the time since the save before: " +
      "the room between them is slack. Red: no slack."),
    tools.folded("Table of the snapshots", tools.table(words, [["snapshot", name], ["bytes", row => tools.mega(row[6])],
      ["visible", row => tools.seconds(row[2])], ["drain", row => tools.seconds(row[3])],
      ["since save before", row => row[4] ? tools.seconds(row[4]) : "-"],
      ["slack", row => row[4] && row[3] ? tools.digits(row[4] / row[3]) : "-"],
      ["durable after", row => row[5] ? tools.seconds(row[5]) : "-"],
      ["slowest / median", row => row[8] ? tools.digits(row[8]) : "-"], ["outcome ", row => outcomes[row[7]]]], rows)));
}

function show_nodes({all, rows}) {
  if (!rows.length) return;
  const words = rows.length < all ? `the ${rows.length} slowest of ${all} nodes` : `${all} nodes, the slowest first`;
  const columns = [["node ", row => row[0]], ["rate", row => tools.rate(row[1])], ["drains", row => row[2]],
    ["seconds of drains", row => tools.seconds(row[3])], ["failed", row => row[4]], ["retries", row => row[5]],
    ["of the median", row => row[6] ? tools.digits(row[6]) + " (slow)" : ""]];
  const most = Math.max(...rows.map(row => row[1]));
  const bars = pictures.bars({words: `Rates of ${words}, up to ${tools.rate(most)}`, title: "Median rate of drains", axis: "node",
    unit: tools.rate_unit(most), class_name: "drain",
    bars: rows.map(row => ({name: row[0], value: row[1], slow: row[6] > 0, told: `${row[0]}: ${tools.rate(row[1])}`}))});
  tools.show("nodes", tools.figure(bars, `Bytes of a drain / its seconds: ${words}. Red: slow.`),
    tools.folded("Table of the nodes", tools.table(words, columns, rows)));
}

function show_targets({all, rows}) {
  if (!rows.some(row => row[0])) return;  // the file system does not name its targets
  const words = tools.part(rows.length, all, "storage targets");
  const name = row => row[0] || "(several)";
  const bars = (at, title, unit, told) => pictures.bars({words: `${title} of ${words}`, title, axis: "storage target", unit,
    class_name: "drain", bars: rows.map(row => ({name: name(row), value: row[at], group: row[6], slow: row[5] > 0,
      told: `${name(row)}: ${told(row[at])}`}))});
  const most = at => Math.max(...rows.map(row => row[at]));
  tools.show("targets",
    tools.figure(bars(1, "Load", tools.bytes_unit(most(1)), tools.mega), "Bytes written to each target. Red: slow."),
    tools.figure(bars(2, "Completion", tools.time_unit(most(2)), tools.seconds),
      "The newest snapshot: seconds from the first write anywhere to the last write of each node, before any wait for other nodes."),
    tools.folded("Table of the storage targets", tools.table(words, [["target ", name], ["bytes", row => tools.mega(row[1])],
      ["writes", row => row[4]], ["last write after", row => tools.seconds(row[2])], ["rate while writing", row => tools.rate(row[3])],
      ["of the median", row => row[5] ? tools.digits(row[5]) + " (slow)" : ""]], rows)));
}

function show_heat(heat) {
  if (!heat) return;
  const bins = heat.rows[0][1].length, last = row => row[1].replace(/0+$/, "").length;
  const words = `${tools.part(heat.rows.length, heat.all, heat.of + "s")}, a row each, over ${tools.seconds(heat.seconds)}`;
  const first = row => row[1].search(/[1-7]/);
  const gaps = row => row[1].slice(first(row), last(row)).split("0").length - 1;
  const at = bin => tools.seconds(bin / bins * heat.seconds);
  const legend = tools.element("p", {class: "faint"});
  pictures.levels().forEach((colour, level) => {
    const box = tools.element("span", {class: "legend"});
    box.style.background = `rgb(${colour})`;
    legend.append(box, level === 0 ? " nothing " : level === 7 ? " " + tools.rate(heat.most) : "");
  });
  tools.show("heat", tools.element("p", {}, `The drain that took longest: ${heat.stream} step ${heat.step}.`), legend,
    tools.figure(pictures.heat(heat, `The times of writes by each ${heat.of}: ${words}. Its table follows.`),
      `${words}. Gaps: idle while others write.`),
    tools.folded("Table of beginnings, ends and gaps", tools.table(words, [[heat.of + " ", row => row[0]],
      ["first write", row => at(Math.max(first(row), 0))], ["last write", row => at(last(row))],
      ["idle between", row => at(gaps(row))]], heat.rows)));
}

function show_scaling(scaling) {
  if (!scaling || !scaling.rows.length) return;
  const {all, rows} = scaling, words = tools.part(rows.length, all, "runs");
  const most = Math.max(...rows.map(row => row[9]));
  tools.show("scaling",
    tools.figure(pictures.scaling(rows, tools.rate_unit(most), `Rate of drains of ${words} by their nodes, up to ${tools.rate(most)}`),
      "A dot is the median over the snapshots of a run, its line goes from the slowest to the fastest; dashed: the peak."),
    tools.table(words, [["run ", row => row[0]], ["ranks", row => row[1]], ["nodes", row => row[2]],
      ["bytes", row => tools.mega(row[3])], ["drains", row => row[4]], ["slowest node, median", row => tools.seconds(row[5])],
      ["longest", row => tools.seconds(row[6])], ["rate, median", row => tools.rate(row[7])], ["least", row => tools.rate(row[8])],
      ["most", row => tools.rate(row[9])]], rows));
}

function show_why({all, rows}) {
  if (!rows.length) return;
  const words = tools.part(rows.length, all, "explanations, the newest first");
  document.getElementById("why").append(tools.folded("Why saves and drains were late: " + words,
    tools.table(words, [["stream ", row => row[0]], ["step", row => row[1]], ["why ", row => row[2]]], rows)));
}

show_why(data.why);
show_scaling(data.scaling);
show_rate(data.rate);
show_snapshots(data.snapshots);
show_nodes(data.nodes);
show_targets(data.targets);
show_heat(data.heat);
