"use strict";
// Bars, maps and points of a report, as SVG and canvas.
const pictures = {
  // Round numbers from 0 to `most`, at most six.
  ticks(most) {
    if (!(most > 0)) return [0];
    const rough = most / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(each => each * power >= rough);
    const found = [];
    for (let at = 0; at <= most * 1.0001; at += step) found.push(at);
    return found;
  },

  // A frame of 720 x `height` with a named axis at the left, for numbers from 0 to `most` of a unit.
  frame(words, height, most, unit, title) {
    const box = {left: 64, right: 712, top: 24, bottom: height - 40, width: 648, height: height - 64};
    const svg = tools.drawn("svg", {viewBox: `0 0 720 ${height}`, role: "img", "aria-label": words, width: "100%"});
    svg.append(tools.drawn("title", {}, words));
    const y = value => box.bottom - (most > 0 ? value / most : 0) * box.height;
    for (const tick of pictures.ticks(most / unit.size)) {
      const at = y(tick * unit.size);
      svg.append(tools.drawn("line", {class: "grid", x1: box.left, x2: box.right, y1: at, y2: at}));
      svg.append(tools.drawn("text", {x: box.left - 6, y: at + 4, "text-anchor": "end"}, tools.digits(tick)));
    }
    svg.append(tools.drawn("text", {x: 4, y: 14}, `${title} (${unit.name})`));
    return {svg, box, y};
  },

  // A bar for each of `bars`: {name, value, group, mark, slow}. Names stand below as far as there is room.
  bars({words, title, axis, unit, bars, class_name}) {
    const most = Math.max(...bars.map(bar => Math.max(bar.value, bar.mark || 0)), 0);
    const {svg, box, y} = pictures.frame(words, 220, most, unit, title);
    const step = box.width / bars.length, wide = Math.min(Math.max(step * 0.8, step - 4), 40);
    let free = 0, group;
    bars.forEach((bar, i) => {
      const x = box.left + i * step + (step - wide) / 2, top = y(bar.value);
      const rect = tools.drawn("rect", {class: bar.slow ? "slow" : class_name, x, width: wide, y: top,
        height: Math.max(box.bottom - top, bar.value > 0 ? 0.5 : 0)});
      rect.append(tools.drawn("title", {}, bar.told));
      svg.append(rect);
      if (bar.mark) svg.append(tools.drawn("line", {class: "mark", x1: x - 1, x2: x + wide + 1, y1: y(bar.mark), y2: y(bar.mark)}));
      const middle = x + wide / 2, half = bar.name.length * 3.4 + 3;
      if (middle - half >= free && middle + half <= 720) {
        svg.append(tools.drawn("text", {x: middle, y: box.bottom + 16, "text-anchor": "middle"}, bar.name));
        free = middle + half;
      }
      if (bar.group && bar.group !== group) {
        svg.append(tools.drawn("line", {class: "grid", x1: box.left + i * step, x2: box.left + i * step, y1: box.top - 8, y2: box.bottom}));
        svg.append(tools.drawn("text", {x: box.left + i * step + 3, y: box.top - 1}, bar.group));
      }
      group = bar.group;
    });
    svg.append(tools.drawn("text", {x: (box.left + box.right) / 2, y: 216, "text-anchor": "middle"}, axis));
    return svg;
  },

  // Colours of the levels 0 (gap) to 7, from the two of the page.
  levels() {
    const parse = name => {
      const hex = tools.colour(name).slice(1);
      return [0, 2, 4].map(at => parseInt(hex.slice(at, at + 2), 16));
    };
    const none = parse("none"), low = parse("second"), high = parse("accent");
    return [none, ...[1, 2, 3, 4, 5, 6, 7].map(level => low.map((from, i) => Math.round(from + (high[i] - from) * (level - 1) / 6)))];
  },
  heat(heat, words) {
    const wide = heat.rows[0][1].length, tall = heat.rows.length;
    const canvas = tools.element("canvas", {class: "heat", role: "img", "aria-label": words, width: wide, height: tall});
    canvas.style.height = Math.min(Math.max(tall * 4, 120), 560) + "px";
    const draw = () => {
      const context = canvas.getContext("2d"), image = context.createImageData(wide, tall), colours = pictures.levels();
      heat.rows.forEach(([, row], y) => {
        for (let x = 0; x < wide; ++x) {
          const [red, green, blue] = colours[row.charCodeAt(x) - 48];
          image.data.set([red, green, blue, 255], (y * wide + x) * 4);
        }
      });
      context.putImageData(image, 0, 0);
    };
    draw();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    return canvas;
  },

  // Runs by nodes: median with least and most, and a line at the best.
  scaling(rows, unit, words) {
    const most = Math.max(...rows.map(row => row[9])), nodes = rows.map(row => row[2]);
    const {svg, box, y} = pictures.frame(words, 260, most, unit, "Rate of a drain");
    const low = Math.log2(Math.min(...nodes)), high = Math.log2(Math.max(...nodes));
    const x = count => high > low ? box.left + 24 + (Math.log2(count) - low) / (high - low) * (box.width - 48)
                                  : (box.left + box.right) / 2;
    let free = 0;
    for (const count of [...new Set(nodes)].sort((a, b) => a - b)) {
      const half = String(count).length * 3.4 + 3;
      if (x(count) - half < free) continue;
      svg.append(tools.drawn("text", {x: x(count), y: box.bottom + 16, "text-anchor": "middle"}, count));
      free = x(count) + half;
    }
    svg.append(tools.drawn("line", {class: "mark", "stroke-dasharray": "6 4", x1: box.left, x2: box.right, y1: y(most), y2: y(most)}));
    svg.append(tools.drawn("text", {x: box.right, y: y(most) - 5, "text-anchor": "end"}, "peak " + tools.rate(most)));
    for (const [name, , count, , , , , median, least, best] of rows) {
      svg.append(tools.drawn("line", {class: "mark", x1: x(count), x2: x(count), y1: y(least), y2: y(best)}));
      const dot = tools.drawn("circle", {class: "drain", cx: x(count), cy: y(median), r: 4});
      dot.append(tools.drawn("title", {}, `${name}: ${tools.rate(median)}, ${tools.rate(least)} to ${tools.rate(best)}`));
      svg.append(dot);
    }
    svg.append(tools.drawn("text", {x: (box.left + box.right) / 2, y: 256, "text-anchor": "middle"}, "nodes (each step doubles them)"));
    return svg;
  },
};
