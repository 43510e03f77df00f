import { choices, follow, frame, html, onTheme, put, slider, table, toggle } from "./kit.js";
import { brush, dimensionAt, drawKeys, drawQuery, geometry, strongest } from "./neuron_drawing.js";
import { MOVES, adds, content, heading, inSight, into, keyRow, named, queryList, signs, told } from "./neuron_parts.js";
import { chunkName, headSource, largestFirst, scoreKeys } from "./queries_keys.js";

const TALLEST = 520, ENOUGH = 640; // of the box in which the keys scroll; if this is enough for all, none do
const NARROW = 700, LISTED = 118; // width of a page on which parts are stacked; then the height of the queries
const HINT = "Point at a column to see what one dimension adds; click to keep it.";

// What is chosen, as far as the present layer has it.
function chosen(model, data) {
  const layer = model.get("layer"), dimension = model.get("dimension");
  return {
    layer, query: model.get("query"), key: model.get("key"), byShare: model.get("by_share"),
    head: Math.min(model.get("head"), data.heads[layer] - 1),
    dimension: dimension !== null && dimension < data.widths[layer] ? dimension : null,
  };
}

// Everything that is chosen by buttons, sliders and the list of queries.
function controls(model, data) {
  const names = Array.from({ length: Math.max(...data.heads) }, (_, i) => String(i));
  const layers = slider("layer", data.heads.length - 1, String, (to) => put(model, "layer", to));
  const heads = choices("head", names, (i) => put(model, "head", i));
  const sorted = toggle("Sort dimensions by what they add to the chosen key beyond the average key",
    (on) => put(model, "by_share", on));
  const queries = queryList(data.queries, (i) => put(model, "query", i));
  const mark = ({ layer, head, query, byShare }) => {
    layers.mark(layer);
    heads.mark(head);
    heads.buttons.forEach((button, i) => { button.hidden = i >= data.heads[layer]; });
    sorted.mark(byShare);
    queries.mark(query);
  };
  const rows = [html("div", { class: "controls" }, sorted.button)];
  if (names.length > 1) rows.unshift(heads.row);
  if (data.heads.length > 1) rows.unshift(html("div", { class: "controls" }, layers.row));
  return { rows, queries: queries.list, mark, reveal: queries.reveal };
}

// The sheet: the query above, the keys in a box that scrolls, canvases behind their words.
function sheet(queries) {
  const above = html("canvas", { role: "img" }), behind = html("canvas", { class: "behind", role: "img" });
  const head = html("div", { class: "row head" });
  const rows = html("div", { class: "rows" }), tall = html("div", { class: "tall" }, behind, rows);
  const top = html("div", { class: "top" }, above, head);
  const box = html("div", { class: "keys", tabindex: "0", role: "group",
    "aria-label": "keys; up and down choose one, left and right a dimension, Escape lets it go" }, tall);
  const side = html("div", { class: "side" }, html("span", { class: "name" }, "query"), queries);
  const whole = html("div", { class: "sheet" }, side, html("div", { class: "main" }, top, box));
  return { whole, above, behind, head, rows, tall, top, box };
}

function render({ model, el }) {
  const data = model.get("payload"), nKeys = data.keys.length, source = headSource(model);
  const root = frame(el, "neuron-view", "How one query scores every key, dimension by dimension", () => false);
  let now = null, at = chosen(model, data), order = [], g = null, peaks = {}, hover = null, waits = 0, gone = false;
  const { rows: above, queries, mark, reveal } = controls(model, data), on = sheet(queries), { box } = on;
  const live = html("p", { class: "told", "aria-live": "polite" }), hovered = html("p", { class: "hovered" });
  const fold = table("Scores and weights as a table", () => content(data, now, at));
  const hint = html("p", { class: "note" });
  root.append(...above, signs(), on.whole, hint, live, hovered, fold.fold, html("p", { class: "note" }, data.note));

  box.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !now) return;
    const place = at.dimension === null ? -1 : order.indexOf(at.dimension), last = now.width - 1;
    const sideways = { ArrowLeft: Math.max(0, place - 1), ArrowRight: Math.min(last, place + 1), Home: 0, End: last };
    if (event.key in MOVES) put(model, "key", Math.max(0, Math.min(nKeys - 1, at.key + MOVES[event.key])));
    else if (event.key in sideways) put(model, "dimension", order[sideways[event.key]]);
    else if (event.key === "Escape" && at.dimension !== null) put(model, "dimension", null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  box.addEventListener("scroll", later);

  // The key and the dimension under the pointer; above the keys, the chosen key.
  function under(event, inBox) {
    const { left, top } = (inBox ? on.behind : on.above).getBoundingClientRect();
    if (!now) return null;
    const key = inBox ? Math.floor((event.clientY - top + box.scrollTop) / g.row) : at.key;
    return key < nKeys ? { key, dimension: dimensionAt(g, order, event.clientX - left) } : null;
  }
  function point(to) {
    if (hover?.key === to?.key && hover?.dimension === to?.dimension) return;
    hover = to;
    later();
  }
  function choose(to) {
    if (!to) return;
    const again = to.dimension === at.dimension && to.key === at.key;
    if (to.dimension !== null) put(model, "dimension", again ? null : to.dimension);
    put(model, "key", to.key);
  }
  for (const [place, inBox] of [[box, true], [on.top, false]]) {
    place.addEventListener("pointermove", (event) => point(under(event, inBox)));
    place.addEventListener("pointerleave", () => point(null));
    place.addEventListener("click", (event) => choose(under(event, inBox)));
  }

  function later() {
    waits ||= requestAnimationFrame(() => { waits = 0; draw(); });
  }

  // Sizes follow from the width of the page and from the head's.
  function measure() {
    if (!now) return;
    const narrow = root.clientWidth < NARROW;
    on.whole.classList.toggle("stacked", narrow);
    g = geometry(box.clientWidth, now.width, narrow);
    on.head.style.gridTemplateColumns = g.columns;
    const whole = nKeys * g.row + 2;
    g.height = whole <= ENOUGH ? whole : Math.floor(TALLEST / g.row) * g.row + 1;
    box.style.height = `${g.height}px`;
    on.top.style.height = `${g.top}px`;
    queries.style.height = `${narrow ? LISTED : g.height + g.top - 22}px`;
    on.tall.style.height = `${nKeys * g.row + 1}px`;
    on.rows.dataset.inSight = "";
    later();
  }

  function draw() {
    if (!now || gone) return;
    const offset = box.scrollTop, dimension = hover?.dimension ?? at.dimension;
    drawQuery(brush(root, on.above, g.width, g.top), g, order, now.q, dimension);
    const seen = { offset, nKeys, key: at.key, dimension, peaks };
    drawKeys(brush(root, on.behind, g.width, g.height), g, order, now, seen);
    const first = Math.floor(offset / g.row), last = Math.min(nKeys, Math.ceil((offset + g.height) / g.row));
    if (on.rows.dataset.inSight !== `${first} ${last}`) {
      const style = (key) => `top: ${key * g.row}px; height: ${g.row}px; grid-template-columns: ${g.columns}`;
      on.rows.replaceChildren(...Array.from({ length: last - first }, (_, i) => first + i)
        .map((key) => keyRow(data, now, key, style(key), at.key)));
      on.rows.dataset.inSight = `${first} ${last}`;
    }
    hint.textContent = inSight(offset, g, nKeys);
    hovered.textContent = hover?.dimension == null ? HINT : adds(data, now, hover.key, hover.dimension);
  }

  function update() {
    at = chosen(model, data);
    mark(at);
    const wanted = [chunkName(at.layer, at.head), ...(data.masked ? ["mask"] : [])];
    const [vectors, mask] = wanted.map(source.peek), busy = !vectors || (data.masked && !mask);
    root.setAttribute("aria-busy", busy);
    if (busy) {
      source.load(wanted).then(() => gone || update(), (error) => { live.textContent = error.message; });
      return;
    }
    now = scoreKeys(vectors, mask, at.query, nKeys, data.scales[at.layer]);
    order = at.byShare ? largestFirst(now, at.key) : Array.from({ length: now.width }, (_, i) => i);
    peaks = { k: strongest(now.k), product: strongest(now.products) };
    on.head.replaceChildren(...heading(data.queries[at.query], data.divisors[at.layer]));
    on.above.setAttribute("aria-label", `The query ${named(data.queries[at.query])}: a vector of ${now.width} numbers`);
    on.behind.setAttribute("aria-label", "Every key times the query, dimension by dimension; the table has the sums");
    live.textContent = told(data, now, at);
    fold.draw();
    measure();
    reveal(at.query);
    into(box, at.key * g.row, g.row + 1);
  }

  const watch = new ResizeObserver(() => { if (now && g.width !== box.clientWidth) measure(); });
  watch.observe(box);
  const unfollow = follow(model, ["layer", "head", "query", "key", "dimension", "by_share"], root, update);
  const untheme = onTheme(root, later);
  return () => {
    gone = true;
    cancelAnimationFrame(waits);
    watch.disconnect();
    untheme();
    source.close();
    unfollow();
  };
}

export default { render };
