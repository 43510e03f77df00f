import { choices, follow, frame, html, put, short, svg, table } from "./kit.js";
import { chunks } from "./chunks.js";
import { headSource } from "./weights.js";
import { headGrid } from "./head_grid.js";
import { legend, oneHead, putAll, scaleToggle, tokenList, TRAITS } from "./one_head.js";

const SPREAD = "spread", ONE_TOKEN = "one token"; // as in head_summary.py
const OVERLAP = "Kinds overlap: shares need not add up to 100 %. Upright line: what an even row would give.";
const percent = (share) => `${Math.round(100 * share)} %`;
const NOTE = "Rows are layers, columns are heads. In a thumbnail a row is a query and a column a key, from the first; "
  + "a long sentence is shrunk to 40 pixels, each the largest weight of its block.";

// What a head does: its name, words, and a bar for each share with a line where chance is.
function described({ patterns, shares, told, even, columns }, keys, [layer, head]) {
  const bars = patterns.map(({ name }, i) => html("div", { class: "share" }, html("bdi", { dir: "auto" }, name),
    svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "bar", x: 0, y: 1, width: 100 * Math.min(1, shares[layer][head][i]), height: 8 }),
      svg("rect", { class: "line", x: 0, y: 0, width: 100, height: 10 }),
      svg("path", { class: "even", d: `M${100 * even[i]},0 V10` })),
    html("span", {}, percent(shares[layer][head][i]))));
  const column = columns[layer][head], one = patterns.some(({ name }) => name === ONE_TOKEN)
    ? ["One token: “", html("bdi", { dir: "auto" }, short(keys[column], 24)), `” (position ${column}). `] : [];
  return [html("strong", {}, `Layer ${layer}, head ${head}`), ...bars, html("p", { class: "note" }, ...one, OVERLAP),
    html("p", {}, told[layer][head])];
}

// The heads that do most of something, in words.
function ranked({ patterns, marks }, mark) {
  const keys = patterns.find(({ name }) => name === mark)?.keys;
  const heads = marks[mark].map(([layer, head, value], i) => `${i + 1}. layer ${layer} head ${head} (${value})`);
  const listed = heads.join(", ");
  if (mark === SPREAD) return `Rows spread most, by entropy: ${listed}.`;
  return listed ? `Most weight to ${keys}: ${listed}.` : `No head gives a tenth of its weight to ${keys}.`;
}

function everyHead({ patterns, shares, bits }) {
  const rows = shares.flatMap((heads, layer) => heads.map((parts, head) => (
    [`${layer} · ${head}`, ...parts.map(percent), bits[layer][head].toFixed(2)])));
  return {
    caption: "Share of each head's weight, mean over queries",
    head: ["layer · head", ...patterns.map(({ name }) => name), "entropy, bits"], rows,
  };
}

function render({ model, el }) {
  const data = model.get("payload"), heads = headSource(model);
  const thumbnails = chunks(model, (_, [bytes]) => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const root = frame(el, "model-view", "Model view: all heads of all layers, as thumbnails", (key) => (
    key === "Escape" && opened() !== null && (close(), true)));
  let wanted = false; // whether the reader has asked for a head that is perhaps out of sight
  let closed = false, due = false, drawn = "", marks = null;

  const number = () => Math.min(model.get("set_number"), data.sets.length - 1);
  const overview = () => data.overview[number()];
  const marked = () => (model.get("mark") in overview().marks ? model.get("mark") : "");
  function opened() {
    const counts = data.sets[number()].heads, layer = model.get("layer"), head = model.get("head");
    if (layer === null || head === null) return null;
    const last = Math.min(layer, counts.length - 1);
    return [last, Math.min(head, counts[last] - 1)];
  }

  function tell(place) {
    const { cross, keys } = data.sets[number()], large = place && html("canvas", { "aria-hidden": "true" });
    about.replaceChildren(...(place ? described(overview(), keys, place)
      : ["Point at a head, or move to it with the arrow keys, to read what it does.", html("br", {}),
        "Click it, or press Enter, to see it large; once more, or Escape, closes it."]));
    if (place) about.append(html("div", { class: "preview" }, large, cross ? "" : "dashed: the token itself"));
    grid.enlarge(large, place);
  }
  const grid = headGrid(root, {
    open: choose, look: (place) => tell(place ?? opened()),
  });
  const sets = choices("show", data.sets.map(({ name }) => name), (i) => putAll(model, { set_number: i, cell: [] }));
  const about = html("div", { class: "about" }), ranking = html("p", { class: "ranking", "aria-live": "polite" });
  const markRow = html("div", {}), key = legend(root), scale = scaleToggle(model), large = oneHead(model, root, heads, reveal);
  const name = html("strong", {});
  function close() {
    if (opening.contains(document.activeElement)) grid.focus();
    putAll(model, { layer: null, head: null, cell: [] });
  }
  function choose(place) {
    if (`${place}` === `${opened()}`) return close();
    wanted = true;
    putAll(model, { layer: place[0], head: place[1] });
  }
  // As little as it takes; the focus stays in the grid.
  function reveal() {
    if (!wanted) return;
    wanted = false;
    requestAnimationFrame(() => { if (!closed) opening.scrollIntoView({ block: "nearest" }); });
  }
  const shut = html("button", { type: "button", onclick: close }, "Close");
  const opening = html("div", { class: "opening" }, html("div", { class: "controls" }, name, shut), large.node);
  const numbers = table("What every head does, as a table", () => everyHead(overview())), tokens = tokenList(data);
  root.append(...(data.sets.length > 1 ? [sets.row] : []), markRow, ranking,
    html("p", { class: "axes" }, "↓ layer", html("span", {}, "→ head"), scale.button, key.node),
    html("div", { class: "overview" }, html("div", {}, grid.node, grid.hint), about), opening, numbers.fold, tokens.fold,
    html("p", { class: "note" }, NOTE));

  // Tokens differ from set to set, and so does what heads can be marked by.
  function markButtons() {
    const names = Object.keys(overview().marks);
    const choose = (i) => put(model, "mark", names[i] === marked() ? "" : names[i]);
    marks = { set: number(), names, ...choices("rank heads by", names, choose) };
    markRow.replaceChildren(marks.row);
    about.style.minHeight = `${1.4 * (overview().patterns.length + 8) + 10}em`; // so that nothing below moves
  }

  function drawGrid(set) {
    const own = model.get("own_scale"), chunk = `thumbnails/${set}`, levels = thumbnails.peek(chunk);
    if (drawn !== (drawn = [set, own, levels !== undefined].join())) {
      if (marks?.set !== set) markButtons();
      grid.show({ ...overview(), heads: data.sets[set].heads, cross: data.sets[set].cross, ownScale: own }, levels);
      key.mark(own ? "largest of each head" : "1");
      tokens.draw(set);
      numbers.draw();
    }
    if (levels) return;
    thumbnails.load([chunk]).then(soon, (error) => about.replaceChildren(`No thumbnails: ${error.message}`));
  }

  function draw() {
    const set = number(), mark = marked(), open = opened();
    sets.mark(set);
    scale.mark(model.get("own_scale"));
    drawGrid(set);
    marks.mark(marks.names.indexOf(mark));
    grid.mark(mark ? overview().marks[mark] : [], open);
    ranking.textContent = mark ? ranked(overview(), mark) : "";
    tell(open);
    opening.hidden = !open;
    if (!open) return;
    name.textContent = `Layer ${open[0]}, head ${open[1]}`;
    large.draw({ set, layer: open[0], head: open[1] });
  }

  // Once for all traits that change together: a head between the old and the new one is never asked for.
  function soon() {
    if (!due) queueMicrotask(() => { due = false; if (!closed) draw(); });
    due = true;
  }

  const unfollow = follow(model, [...TRAITS, "mark"], root, soon);
  return () => {
    closed = true;
    unfollow();
    for (const part of [grid, key, large, heads, thumbnails]) part.close();
  };
}

export default { render };
