"use strict";
// Bars, maps and points of a report, as SVG and canvas. A new width draws them again, so letters keep their size.
const pictures = {
  fitted(draw) {
    const place = tools.element("div", {});
    let width = 0;
    const fill = () => {
      if (width > 0) place.replaceChildren(draw(width));
    };
    const fit = () => {
      const wide = Math.floor(place.clientWidth);
      if (wide === width) return;
      width = wide;
      fill();
    };
    tools.fresh.push(fit);
    // In the next frame: a change of height during the callback would trigger it again.
    new ResizeObserver(() => requestAnimationFrame(fit)).observe(place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", fill);
    return place;
  },
  // Half the width of a 12 px text, plus a blank.
  half: text => String(text).length * 3.7 + 6,

  // Round numbers from 0 to `most`, at most six.
  ticks(most) {
    if (!(most > 0)) return [0];
    const rough = most / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(each => each * power >= rough);
    const found = [];
    for (let at = 0; at <= most * 1.0001; at += step) found.push(at);
    return found;
  },

  // A frame with a labelled left axis, for numbers from 0 to `most` of a unit.
  frame(words, width, height, most, unit, title) {
    const box = {left: 48, right: width - 4, top: 32, bottom: height - 40, width: width - 52, height: height - 72};
    const svg = tools.drawn("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words});
    const y = value => box.bottom - (most > 0 ? value / most : 0) * box.height;
    for (const tick of pictures.ticks(most / unit.size)) {
      const at = y(tick * unit.size);
      svg.append(tools.drawn("line", {class: "grid", x1: box.left, x2: box.right, y1: at, y2: at}));
      svg.append(tools.drawn("text", {x: box.left - 6, y: at + 4, "text-anchor": "end"}, tools.digits(tick)));
    }
    svg.append(tools.drawn("text", {x: 0, y: 12}, `${title} (${unit.name})`));
    return {svg, box, y};
  },

  // A bar for each of `bars`: {name, value, group, mark, slow}. Names stand below if there is room.
  bars: request => pictures.fitted(width => pictures.bars_of(request, width)),
  bars_of({words, title, axis, unit, bars, class_name}, width) {
    const most = Math.max(...bars.map(bar => Math.max(bar.value, bar.mark || 0)), 0);
    const {svg, box, y} = pictures.frame(words, width, 220, most, unit, title);
    const step = box.width / bars.length, wide = Math.min(Math.max(step * 0.8, step - 4), 40);
    let free = 0, group;
    bars.forEach((bar, i) => {
      const x = box.left + i * step + (step - wide) / 2, top = y(bar.value);
      const rect = tools.drawn("rect", {class: bar.slow ? "slow" : class_name, x, width: wide, y: top,
        height: Math.max(box.bottom - top, bar.value > 0 ? 0.5 : 0)});
      rect.append(tools.drawn("title", {}, bar.told));
      svg.append(rect);
      if (bar.mark) svg.append(tools.drawn("line", {class: "mark", x1: x - 1, x2: x + wide + 1, y1: y(bar.mark), y2: y(bar.mark)}));
      const middle = x + wide / 2, half = pictures.half(bar.name);
      if (middle - half >= free && middle + half <= width) {
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

  // Colours of the levels 0 (gap) to 7, mixed from the page's two colours.
  levels() {
    const parse = name => {
      const hex = tools.colour(name).slice(1);
      return [0, 2, 4].map(at => parseInt(hex.slice(at, at + 2), 16));
    };
    const none = parse("none"), low = parse("second"), high = parse("accent");
    return [none, ...[1, 2, 3, 4, 5, 6, 7].map(level => low.map((from, i) => Math.round(from + (high[i] - from) * (level - 1) / 6)))];
  },
  heat: (heat, words) => pictures.fitted(width => pictures.heat_of(heat, words, width)),
  heat_of(heat, words, width) {
    const bins = heat.rows[0][1].length, rows = heat.rows.length, letters = 12;
    const names = heat.rows.map(row => row[0].length > 16 ? row[0].slice(0, 15) + "\u2026" : row[0]);
    const left = Math.min(Math.max(...names.map(name => name.length)) * 7 + 8, width / 3), right = width - 4;
    const tall = Math.max(Math.min(rows * 16, 480), rows * 2), height = tall + 40, scale = devicePixelRatio || 1;
    const canvas = tools.element("canvas", {role: "img", "aria-label": words, width: width * scale, height: height * scale});
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    const image = new ImageData(bins, rows), colours = pictures.levels();
    heat.rows.forEach(([, row], y) => {
      for (let x = 0; x < bins; ++x) image.data.set([...colours[row.charCodeAt(x) - 48], 255], (y * bins + x) * 4);
    });
    const small = tools.element("canvas", {width: bins, height: rows});
    small.getContext("2d").putImageData(image, 0, 0);
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, left, 0, right - left, tall);
    context.font = letters + "px system-ui, sans-serif";
    context.fillStyle = tools.colour("ink");
    context.textAlign = "right";
    const every = Math.ceil((letters + 3) / (tall / rows));
    for (let i = 0; i < rows; i += every)
      context.fillText(names[i], left - 5, Math.max((i + 0.5) * tall / rows + 4, letters - 2), left - 6);
    const unit = tools.time_unit(heat.seconds), end = heat.seconds / unit.size;
    context.textAlign = "center";
    for (const tick of pictures.ticks(end)) {
      const at = left + tick / end * (right - left);
      context.fillRect(at - 0.5, tall, 1, 5);
      context.fillText(tools.digits(tick), Math.min(at, right - 8), tall + 18);
    }
    context.fillText(`time since the first write (${unit.name})`, (left + right) / 2, tall + 35, right - left);
    return canvas;
  },

  // Runs by nodes: the median, the least and the most, and a line at the best.
  scaling: (rows, unit, words) => pictures.fitted(width => pictures.scaling_of(rows, unit, words, width)),
  scaling_of(rows, unit, words, width) {
    const most = Math.max(...rows.map(row => row[9])), nodes = rows.map(row => row[2]);
    const {svg, box, y} = pictures.frame(words, width, 260, most, unit, "Rate of a drain");
    const low = Math.log2(Math.min(...nodes)), high = Math.log2(Math.max(...nodes));
    const x = count => high > low ? box.left + 24 + (Math.log2(count) - low) / (high - low) * (box.width - 48)
                                  : (box.left + box.right) / 2;
    let free = 0;
    for (const count of [...new Set(nodes)].sort((a, b) => a - b)) {
      const half = pictures.half(count);
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
