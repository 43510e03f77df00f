// One head large, wherever it is chosen: its heat map, what it says about a cell, its numbers as a table.

import { html, onTheme, put, short, shown, svg, table, toggle } from "./kit.js";
import { chunkName, merged } from "./weights.js";
import { hue } from "./heat_drawing.js";
import { heatMap } from "./heat.js";

export const TRAITS = ["set_number", "layer", "head", "cell", "merge_words", "own_scale"];

const HINT = "Point at a cell, or move to one with the arrow keys.";
const ZOOM = [["−", "smaller cells", -1], ["+", "larger cells", 1], ["Whole", "all cells", 0]];

// A token in a sentence: isolated, so that one that runs from right to left turns nothing around it.
const quoted = (token) => ["“", html("bdi", { dir: "auto" }, short(token, 40)), "”"];

// Several traits at once, Python told once.
export function putAll(model, values) {
  const changed = Object.entries(values).filter(([trait, value]) => model.get(trait) !== value);
  for (const [trait, value] of changed) model.set(trait, value);
  if (changed.length) model.save_changes();
}

// What is written beside rows and columns, and the tokens each stands for: `sides(set number, merged to words?)`.
function namesOf(data) {
  const made = new Map();
  const whole = (tokens) => ({ names: tokens, groups: tokens.map((_, i) => [i]) });
  const words = (groups) => ({ names: groups.map(([word]) => word), groups: groups.map(([, group]) => group) });
  return (number, merges) => {
    const key = `${number}/${merges}`, set = data.sets[number];
    const parts = merges ? [set.queries_words, set.keys_words].map(words) : [set.queries, set.keys].map(whole);
    if (!made.has(key)) made.set(key, parts);
    return made.get(key);
  };
}

function statistics(row) {
  const bits = row.reduce((sum, p) => (p > 0 ? sum - p * Math.log2(p) : sum), 0);
  const order = Array.from(row.keys()).sort((a, b) => row[b] - row[a] || a - b);
  return { bits, order: order.slice(0, 3) };
}

// The next number of two digits, as `rounded_up` in one_head.py: what full colour stands for.
function roundedUp(weight) {
  if (!(weight > 0)) return 1;
  const unit = 10 ** (Math.floor(Math.log10(weight)) - 1);
  return Math.min(1, Number((Math.ceil(weight / unit - 1e-9) * unit).toPrecision(2)));
}

export function legend(root) {
  const strip = svg("svg", { viewBox: "0 0 120 12", "aria-hidden": "true" });
  const most = html("span", {}), node = html("span", { class: "legend" }, "weight 0", strip, most);
  const shade = (i) => svg("rect", {
    x: 5 * i, y: 0, width: 5, height: 12, fill: `rgb(${hue(root)})`, "fill-opacity": (i + 0.5) / 24,
  });
  const around = () => svg("rect", { x: 0.5, y: 0.5, width: 119, height: 11, class: "line" });
  const draw = () => strip.replaceChildren(...Array.from({ length: 24 }, (_, i) => shade(i)), around());
  const arrival = new ResizeObserver(draw); // on the page only, there is a colour
  arrival.observe(node);
  const offTheme = onTheme(root, draw);
  return { node, mark: (top) => { most.textContent = top; }, close: () => { arrival.disconnect(); offTheme(); } };
}

// A button that lets the largest weight of a head have the full colour.
export const scaleToggle = (model) => toggle("Full colour for the largest weight", (on) => put(model, "own_scale", on));

// Every token with its position, for whoever cannot read them beside the cells.
export function tokenList(data) {
  const place = html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "all tokens" });
  const fold = html("details", { class: "tokens" }, html("summary", {}, "All tokens by position"), place);
  const list = (tokens) => html("ol", { start: 0 },
    ...tokens.map((token) => html("li", {}, html("bdi", { dir: "auto" }, shown(token)))));
  function draw(number) {
    const { queries, keys, cross } = data.sets[number];
    place.replaceChildren(...(cross ? ["queries", list(queries), "keys", list(keys)] : [list(queries)]));
  }
  return { fold, draw };
}

// `source` gives weights, see weights.js. `draw({ set, layer, head })` shows a head; call it when a trait changes.
// `isDrawn` is called whenever weights are on the page.
export function oneHead(model, root, source, isDrawn = () => {}) {
  const data = model.get("payload"), sides = namesOf(data);
  let place = null, rows, columns, weights = null, drawn = "", closed = false;

  const words = toggle("Merge word pieces", (on) => put(model, "merge_words", on));
  const zoom = ZOOM.map(([sign, name, way]) => html("button", {
    type: "button", "aria-label": name, title: name, onclick: () => heat.zoom(way),
  }, sign));
  const zooms = html("span", { class: "zoom", role: "group", "aria-label": "zoom" }, ...zoom);
  const heat = heatMap(root, { choose, look: (cell) => say(cell ?? chosen()), zoomed });
  const key = legend(root), readout = html("p", { class: "readout" });
  const spoken = html("p", { class: "spoken", "aria-live": "polite" });
  const numbers = table("Weights of one row as a table", asTable);
  const itself = html("span", {}, "▭ outlined: the token itself");
  const tools = html("span", { class: "tools" }, words.button);
  const node = html("div", { class: "one-head" },
    html("div", { class: "controls" }, tools, zooms),
    html("p", { class: "axes" }, "↓ query: looks", html("span", {}, "→ key: is looked at"), itself, key.node),
    heat.node, readout, spoken, numbers.fold,
    html("p", { class: "note" }, "Each row is a query and sums to 1; positions count from 0. Weights are rounded, "
      + `off by less than ${data.error}.`));

  function zoomed({ all, largest }) {
    zoom.forEach((button, i) => button.setAttribute("aria-disabled", i === 1 ? largest : all));
    zooms.hidden = all && largest;
  }

  // Cells are kept as positions of tokens, so that a cell stays where it is when pieces are merged.
  function choose(cell) {
    model.set("cell", cell ? [rows.groups[cell[0]][0], columns.groups[cell[1]][0]] : []);
    model.save_changes();
  }

  function chosen() {
    const cell = model.get("cell");
    if (!weights || cell.length !== 2) return null;
    const found = [rows, columns].map((side, i) => side.groups.findIndex((group) => group.includes(cell[i])));
    return found.includes(-1) ? null : found;
  }

  const rowOf = (row) => weights.subarray(row * columns.names.length, (row + 1) * columns.names.length);

  function sentence([row, column]) {
    const weight = rowOf(row)[column].toFixed(3);
    return [...quoted(rows.names[row]), " looks at ", ...quoted(columns.names[column]), ` with weight ${weight}`];
  }

  function say(cell) {
    if (!weights) return;
    if (!cell) return readout.replaceChildren(HINT);
    const row = rowOf(cell[0]), { bits, order } = statistics(row), most = Math.log2(row.length);
    readout.replaceChildren(html("strong", {}, ...sentence(cell)), ` · row ${cell[0]}, column ${cell[1]}`,
      html("br", {}), ...quoted(rows.names[cell[0]]), " looks most at ",
      ...order.flatMap((at, i) => [i ? ", " : "", ...quoted(columns.names[at]), ` ${row[at].toFixed(3)}`]),
      ` · entropy ${bits.toFixed(2)} of at most ${most.toFixed(2)} bits`);
  }

  function asTable() {
    if (!weights) return { caption: "no weights yet", head: [], rows: [] };
    const row = chosen()?.[0] ?? 0, { layer, head } = place;
    const caption = [`Layer ${layer}, head ${head}, row ${row}: where `, ...quoted(rows.names[row]), " looks"];
    return {
      caption: html("span", {}, ...caption),
      head: ["position", "key", "weight"],
      rows: Array.from(rowOf(row), (weight, i) => (
        [`${i}`, html("bdi", { dir: "auto" }, shown(columns.names[i])), weight.toFixed(3)])),
    };
  }

  function wait(name, at) {
    weights = null;
    drawn = "";
    readout.replaceChildren(`loading the weights of layer ${at.layer}, head ${at.head} …`);
    source.load([name]).then(
      () => { if (!closed && place === at) draw(at); },
      (error) => { if (!closed && place === at) readout.replaceChildren(`No weights: ${error.message}`); },
    );
  }

  function drawMap(all, { set: number, layer, head }) {
    const set = data.sets[number], merges = model.get("merge_words"), own = model.get("own_scale");
    if (drawn === (drawn = [number, layer, head, merges, own].join())) return; // only the cell is another
    [rows, columns] = sides(number, merges);
    weights = merges ? merged(all, set.keys.length, rows.groups, columns.groups) : all;
    const top = own ? roundedUp(weights.reduce((most, weight) => Math.max(most, weight), 0)) : 1;
    const begins = (side) => side.groups.findIndex((group) => group[0] >= set.sentence_b);
    words.mark(merges);
    words.button.hidden = [...set.queries_words, ...set.keys_words].every(([, group]) => group.length === 1);
    key.mark(top);
    itself.hidden = set.cross;
    heat.show({
      weights, rows: rows.names, columns: columns.names, top,
      diagonal: !set.cross, splits: set.sentence_b === null ? null : [begins(rows), begins(columns)],
    }, `weights of layer ${layer}, head ${head}: ${rows.names.length} queries look at ${columns.names.length} keys; `
      + "arrow keys move from cell to cell, plus and minus zoom");
  }

  function draw(at) {
    place = at;
    const name = chunkName(at.set, at.layer, at.head), all = source.peek(name);
    node.classList.toggle("waiting", !all);
    if (!all) return wait(name, at);
    drawMap(all, at);
    const cell = chosen();
    heat.point(cell);
    say(cell);
    spoken.textContent = cell ? html("span", {}, ...sentence(cell)).textContent : "";
    numbers.draw();
    isDrawn();
  }

  return { node, tools, draw, close: () => { closed = true; heat.close(); key.close(); } };
}
