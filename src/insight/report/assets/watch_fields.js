// Pictures of the live page: planes, projections, and results of analyses.

const address = (path, query) => path + "?" + new URLSearchParams({...query, token});
async function ask(path, query) {
  const answer = await fetch(address(path, query));
  if (answer.ok) return answer;
  let words = answer.statusText;
  try {
    const error = (await answer.json()).error;
    words = error.what + (error.next ? ". Next: " + error.next : "");
  } catch (_) { /* a text that is no JSON says no more than its status */ }
  throw new Error(words);
}

// Each place loads one picture at a time. Meanwhile only the newest request is kept.
function picture_place(image, caption) {
  let wish = null, busy = false, address_of_blob = "";
  const run = async () => {
    if (busy || !wish) return;
    const {path, query, alt, words} = wish;
    wish = null;
    busy = true;
    image.classList.add("waiting");
    try {
      const begin = performance.now(), answer = await ask(path, query), blob = await answer.blob();
      if (address_of_blob) URL.revokeObjectURL(address_of_blob);
      address_of_blob = URL.createObjectURL(blob);
      image.src = address_of_blob;
      await image.decode();
      image.alt = alt;
      image.hidden = false;
      image.dataset.milliseconds = (performance.now() - begin).toFixed(1);
      caption.textContent = words;
      caption.className = "";
    } catch (error) {
      image.hidden = true;
      caption.textContent = error.message;
      caption.className = "bad";
    }
    image.classList.remove("waiting");
    busy = false;
    run();
  };
  return (next) => { wish = next; run(); };
}

let menu = {streams: [], results: []};
const option = (value, text) => { const one = make("option", text); one.value = value; return one; };
function set_options(select, options, wished) {
  const before = wished === undefined ? select.value : wished;
  select.replaceChildren(...options.map(([value, text]) => option(value, text)));
  if (options.some(([value]) => value === before)) select.value = before;
}
const with_unit = (one) => one.unit ? one.name + " [" + one.unit + "]" : one.name;

const draw_field = picture_place(at("field-picture"), at("field-caption"));
const field_stream = () => menu.streams.find((one) => one.name === at("field-stream").value);
const field_array = () => { const stream = field_stream(); return stream && stream.arrays.find((one) => one.name === at("field-variable").value); };
function field_query() {
  const query = {stream: at("field-stream").value, variable: at("field-variable").value, step: at("field-step").value, axis: at("field-axis").value,
    index: at("field-index").value, palette: at("field-palette").value, log: at("field-log").checked ? 1 : 0,
    pixels: Math.max(128, Math.min(768, Math.floor((at("fields").clientWidth - 160) * Math.min(2, devicePixelRatio || 1))))};
  for (const end of ["low", "high"]) if (at("field-" + end).value.trim()) query[end] = at("field-" + end).value.trim();
  return query;
}
let histogram_turn = 0;
async function show_histogram(query, slice) {
  const turn = ++histogram_turn;
  if (!slice) { forget_chart("histogram-chart"); at("histogram-caption").textContent = ""; return; }
  try {
    const found = await (await ask("/histogram", query)).json();
    if (turn !== histogram_turn) return;
    if (!found.count) { forget_chart("histogram-chart"); at("histogram-caption").textContent = "There is no value to count."; return; }
    const bins = found.counts.length, place = (i) => found.log ? found.low * Math.pow(found.high / found.low, (i + 0.5) / bins) : found.low + (found.high - found.low) * (i + 0.5) / bins;
    const label = found.unit ? query.variable + " [" + found.unit + "]" : query.variable;
    chart("histogram-chart", {key: "histogram " + label + found.log, height: 170, plot: () => ({
      scales: {x: {time: false, distr: found.log ? 3 : 1}, y: {range: from_zero}},
      axes: [axis(label), axis("elements", {size: 60})], legend: {show: false},
      series: [{label}, {...series("elements", "--accent", String), fill: colour("--accent"), paths: uPlot.paths.bars({size: [1, 60]})}]})},
      [found.counts.map((_, i) => place(i)), found.counts]);
    const number = (value) => String(Number(value.toPrecision(5)));
    name_chart("histogram", "Values of this slice: " + number(found.low) + " to " + number(found.high) + ", mean " + number(found.mean) + (found.unit ? " " + found.unit : "")
      + "; " + found.count + " elements" + (found.left_out ? ", " + found.left_out + " without a value or not above 0" : "") + ".");
  } catch (error) {
    if (turn === histogram_turn) at("histogram-caption").textContent = error.message;
  }
}
let histogram_wait = 0;
function show_field() {
  const array = field_array();
  if (!array) return;
  const query = field_query(), slice = at("field-view").value === "slice", dim = array.dims[Number(query.axis)];
  at("field-slider").hidden = !slice || array.shape.length < 3;
  at("field-index-value").value = at("field-index").value;
  at("field-index").setAttribute("aria-valuetext", dim + " = " + at("field-index").value);
  const what = slice ? (array.shape.length > 2 ? "Slice of " + with_unit(array) + " at " + dim + " = " + query.index : "All of " + with_unit(array)) : "Sum of " + with_unit(array) + " along " + dim;
  const words = what + ", step " + (query.step === "-1" ? "newest" : query.step) + ".";
  if (!slice) delete query.index;
  draw_field({path: slice ? "/slice" : "/projection", query, alt: words, words});
  clearTimeout(histogram_wait);
  histogram_wait = setTimeout(() => show_histogram(query, slice), 150);
}
function choose_axis() {
  const array = field_array();
  if (!array) return;
  const length = array.shape[Number(at("field-axis").value)];
  at("field-index").max = length - 1;
  at("field-index").value = Math.floor(length / 2);
  at("field-index-label").textContent = array.dims[Number(at("field-axis").value)];
  show_field();
}
function choose_variable() {
  const array = field_array();
  if (!array) return;
  const first = Math.max(0, array.shape.length - 3);
  set_options(at("field-axis"), array.dims.map((name, dim) => [String(dim), name]).slice(array.shape.length > 2 ? first : 0));
  at("field-axis-label").hidden = array.shape.length < 3 && at("field-view").value === "slice";
  choose_axis();
}
function choose_stream() {
  const stream = field_stream();
  if (!stream) return;
  set_options(at("field-step"), [["-1", "newest"], ...stream.steps.map((step) => [String(step), String(step)])]);
  set_options(at("field-variable"), stream.arrays.map((one) => [one.name, with_unit(one) + " (" + one.shape.join(" x ") + ")"]));
  choose_variable();
}
at("field-stream").addEventListener("change", choose_stream);
at("field-variable").addEventListener("change", choose_variable);
at("field-axis").addEventListener("change", choose_axis);
at("field-view").addEventListener("change", () => { at("field-axis-label").hidden = field_array() && field_array().shape.length < 3 && at("field-view").value === "slice"; show_field(); });
at("field-index").addEventListener("input", show_field);
for (const id of ["field-step", "field-palette", "field-low", "field-high", "field-log"]) at(id).addEventListener("change", show_field);
for (const form of document.querySelectorAll("form")) form.addEventListener("submit", (event) => event.preventDefault());

const draw_particles = picture_place(at("particles-picture"), at("particles-caption"));
const particle_stream = () => menu.streams.find((one) => one.name === at("particles-stream").value);
function show_particles() {
  const stream = particle_stream();
  if (!stream) return;
  const query = {stream: stream.name, x: at("particles-x").value, y: at("particles-y").value, palette: at("particles-palette").value, log: at("particles-log").checked ? 1 : 0,
    pixels: Math.max(128, Math.min(512, at("particles").clientWidth - 160))};
  const words = "Particles of " + stream.name + " in the plane of " + query.x + " and " + query.y + ", newest step.";
  draw_particles({path: "/projection", query, alt: words, words});
}
function choose_particles() {
  const stream = particle_stream();
  if (!stream) return;
  const columns = stream.columns.map((one) => [one.name, with_unit(one)]);
  set_options(at("particles-x"), columns);
  set_options(at("particles-y"), columns, at("particles-y").value || (columns[1] || columns[0])[0]);
  show_particles();
}
at("particles-stream").addEventListener("change", choose_particles);
for (const id of ["particles-x", "particles-y", "particles-palette", "particles-log"]) at(id).addEventListener("change", show_particles);

const draw_result = picture_place(at("result-picture"), at("result-caption"));
function show_result() {
  const stream = at("result-stream").value;
  at("result-figure").hidden = !stream;
  if (stream) draw_result({path: "/result", query: {stream, pixels: Math.max(320, Math.min(1024, at("made").clientWidth))}, alt: "Results of " + stream, words: "Results of " + stream + ", as forebay plot draws them."});
}
at("result-stream").addEventListener("change", show_result);
const places = new Map();
async function show_pictures() {
  const {pictures} = await (await ask("/pictures", {})).json();
  for (const one of pictures) {
    const key = one.stream + "\n" + one.path.replace(/\d+(?=\D*$)/, "*");
    if (!places.has(key)) {
      const figure = make("figure"), image = make("img", undefined, "picture"), caption = make("figcaption");
      figure.append(image, caption);
      at("pictures").append(figure);
      places.set(key, {draw: picture_place(image, caption), path: ""});
    }
    const place = places.get(key);
    if (place.path === one.path + one.made) continue;
    place.path = one.path + one.made;
    place.draw({path: "/picture", query: {stream: one.stream, step: one.step, path: one.path}, alt: "Picture " + one.path, words: one.path + ", made " + clock(one.made)});
  }
  at("made").hidden = menu.results.length === 0 && pictures.length === 0;
}

// The choices change with the existing snapshots.
let kept_before = "", follows = false;
async function refresh_menu(state) {
  const kept = JSON.stringify(state.kept);
  if (kept === kept_before || follows) return;
  kept_before = kept;
  follows = true;
  try {
    const first = menu.streams.length === 0;
    menu = await (await ask("/fields", {})).json();
    const arrays = menu.streams.filter((one) => one.arrays && one.arrays.length), columns = menu.streams.filter((one) => one.columns && one.columns.length);
    at("fields").hidden = arrays.length === 0;
    at("particles").hidden = columns.length === 0;
    set_options(at("field-stream"), arrays.map((one) => [one.name, one.name]));
    set_options(at("particles-stream"), columns.map((one) => [one.name, one.name]));
    set_options(at("result-stream"), menu.results.map((one) => [one, one]));
    at("made").hidden = menu.results.length === 0;
    if (arrays.length && (first || at("field-step").value === "-1")) {
      const index = at("field-index").value;
      choose_stream();
      if (!first) { at("field-index").value = index; show_field(); }
    }
    if (columns.length) choose_particles();
    show_result();
    await show_pictures();
  } catch (error) {
    kept_before = "";
    at("made").hidden = false;
    at("result-caption").textContent = error.message;
  }
  follows = false;
}
state_listeners.push(refresh_menu);
listen();
