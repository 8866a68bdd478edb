"use strict";
// Elements, numbers and tables of a report. Texts become text nodes, never markup.
const tools = {
  element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    made.append(...children);
    return made;
  },
  drawn(tag, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  },
  colour: name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(),

  digits(value) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    return size >= 1000 ? Math.round(value).toString() : String(Number(value.toPrecision(3)));
  },
  // Takes MB, or MB/s, and returns "1.25 GB".
  mega(value, per) {
    const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let at = 2, scaled = value;
    while (scaled >= 1000 && at + 1 < units.length) scaled /= 1000, ++at;
    while (scaled > 0 && scaled < 1 && at > 0) scaled *= 1000, --at;
    return tools.digits(scaled) + " " + units[at] + (per || "");
  },
  rate: value => value > 0 ? tools.mega(value, "/s") : "-",
  seconds(value) {
    if (value === 0) return "0 s";
    if (value < 1) return tools.digits(value * 1000) + " ms";
    if (value < 600) return tools.digits(value) + " s";
    if (value < 7200) return tools.digits(value / 60) + " min";
    return tools.digits(value / 3600) + " h";
  },
  // The unit that keeps numbers up to `most` short: its name, and its divisor.
  rate_unit(most) {
    for (const [name, size] of [["TB/s", 1e6], ["GB/s", 1e3], ["MB/s", 1]]) if (most >= size) return {name, size};
    return {name: "kB/s", size: 1e-3};
  },
  bytes_unit(most) {
    for (const [name, size] of [["PB", 1e9], ["TB", 1e6], ["GB", 1e3], ["MB", 1]]) if (most >= size) return {name, size};
    return {name: "kB", size: 1e-3};
  },
  time_unit(most) {
    for (const [name, size] of [["days", 259200], ["h", 7200], ["min", 600]])
      if (most >= size) return {name, size: {days: 86400, h: 3600, min: 60}[name]};
    return most >= 1 ? {name: "s", size: 1} : {name: "ms", size: 1e-3};
  },

  // Columns are [title, cell of a row]. A title that ends in a blank marks a column of texts.
  table(caption, columns, rows) {
    const head = tools.element("tr", {}, ...columns.map(([title]) => tools.element("th", {scope: "col"}, title)));
    const lines = rows.map(row => tools.element("tr", {}, ...columns.map(([title, cell]) =>
      tools.element("td", title.endsWith(" ") ? {class: "text"} : {}, String(cell(row))))));
    const table = tools.element("table", {}, tools.element("caption", {class: "faint"}, caption),
      tools.element("thead", {}, head), tools.element("tbody", {}, ...lines));
    // Keyboard users must be able to reach the scrolling part.
    return tools.element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption}, table);
  },
  folded(title, content) {
    return tools.element("details", {}, tools.element("summary", {}, title), content);
  },
  figure(picture, caption) {
    return tools.element("figure", {}, picture, tools.element("figcaption", {}, caption));
  },
  // Shows a section with these parts. Pictures in `fresh` are drawn when they have a width.
  fresh: [],
  show(id, ...parts) {
    const section = document.getElementById(id);
    section.append(...parts);
    section.hidden = false;
    for (const draw of tools.fresh.splice(0)) draw();
  },
  // "12 of 500": the shown rows of all rows.
  part: (shown, all, words) => shown < all ? `${shown} of ${all} ${words}` : `${all} ${words}`,
};
