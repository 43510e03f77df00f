import { follow, frame, html, put, short, shown, slider, svg, table, text, toggle } from "./kit.js";
import { maskedSoftmax } from "./masked_softmax.js";

// Two matrices side by side, in a picture of 860: the mask, which is drawn, and the weights that it leaves.
const WIDE = 860, GAP = 40, SUMS = 62, LETTER = 7.6;

function layout(data) {
  const long = (tokens, most) => Math.min(most, LETTER * Math.max(...tokens.map((token) => [...shown(token)].length)));
  const left = 24 + long(data.queries, 100), n = data.keys.length;
  const wide = Math.min(58, (WIDE - left - GAP - SUMS) / (2 * n)), tall = Math.max(13, Math.min(34, wide));
  const names = long(data.keys, 90), slanted = names > wide - 6;
  const turn = !slanted ? 0 : wide < 22 ? -90 : -55, size = Math.min(14, Math.max(9, wide));
  const top = 30 + (slanted ? 14 + (turn < -60 ? 1 : 0.8) * names : 20);
  const mask = left, weights = left + n * wide + GAP;
  const sums = weights + n * wide + 8, bottom = top + data.queries.length * tall;
  return { wide, tall, turn, size, top, mask, weights, sums, bottom };
}

function tokenName(place, token, room, attributes) {
  return svg("g", { transform: place }, svg("title", {}, shown(token)), text(0, 0, short(token, room), attributes));
}

// Title and names of the columns of one matrix.
function heading(data, at, x, title) {
  const names = data.keys.map((token, j) => {
    const middle = x + at.wide * (j + 0.5) + (at.turn < -60 ? at.size / 3 : 0);
    return tokenName(`translate(${middle} ${at.top - 6}) rotate(${at.turn})`, token, 12, { class: at.turn ? "" : "middle", style: `font-size: ${at.size}px` });
  });
  return svg("g", { "aria-hidden": "true" }, text(x, 15, title, { class: "strong" }), ...names);
}

function rowNames(data, at) {
  const names = data.queries.map((token, i) => {
    const place = `translate(${at.mask - 6} ${at.top + at.tall * (i + 0.5) + 5})`;
    return tokenName(place, token, 12, { class: "end", style: `font-size: ${Math.min(14, at.tall)}px` });
  });
  return svg("g", { "aria-hidden": "true" }, ...names);
}

const ruled = (data, causal, padding) => data.queries.map((_, i) => (
  data.keys.map((_, j) => j < data.keys.length - padding && (!causal || j <= i))));

// What a cell of the mask is called here and by others: open, hidden, and by whom.
const CONVENTIONS = [["True", "False", "here and for torch’s scaled_dot_product_attention"],
  ["False", "True", "for torch’s nn.MultiheadAttention"], ["0", "−∞", "when added to scores"]];

const NOTE = "Try this: hide all keys of one query but one; that one then weighs 1, whatever its score. Cells flip by "
  + "click, by dragging, or by arrow keys and space. What you draw (dashed) stays until it is undone. "
  + "Weights are rounded.";

function render({ model, el }) {
  const data = model.get("payload"), at = layout(data), rows = data.queries.length, columns = data.keys.length;
  const root = frame(el, "mask-explorer", "A mask to draw, and the attention weights under it", () => false);
  // The cell that is told, the one that keys move, whether a pressed pointer opens or hides.
  let here = [0, 0], keyed = [0, 0], painting = null, frameAsked = 0;

  // One rectangle and one sign for each cell; a change alters them in place, so that the focus stays.
  const grid = (x, kind, each) => data.queries.map((_, i) => data.keys.map((_, j) => {
    const left = x + j * at.wide, top = at.top + i * at.tall;
    const box = svg("rect", { x: left, y: top, width: at.wide, height: at.tall, class: "cell", ...each });
    const sign = text(left + at.wide / 2, top + at.tall / 2 + 4.5, "", { class: `middle ${kind}`, "aria-hidden": "true" });
    return { box, sign };
  }));
  const mask = grid(at.mask, "sign", { role: "gridcell", tabindex: "-1" });
  const weights = grid(at.weights, "number", {});
  const sums = data.queries.map((_, i) => text(at.sums, at.top + (i + 0.5) * at.tall + 4.5, "", { class: "small sum" }));
  const empty = data.queries.map((_, i) => svg("rect", { class: "empty", x: at.weights, y: at.top + i * at.tall + 1,
    width: columns * at.wide, height: at.tall - 2 }));
  const cross = [at.mask, at.weights].map(() => svg("rect", { class: "here", width: at.wide, height: at.tall }));
  const flat = (cells) => cells.flat().flatMap(({ box, sign }) => [box, sign]);
  const drawn = svg("g", { role: "grid", "aria-label": "mask, a row for each query; space flips a cell" },
    ...mask.map((row) => svg("g", { role: "row" }, ...flat([row]))));
  const seen = svg("g", { role: "img", "aria-label": "weights; the table below has them as numbers" },
    ...flat(weights), ...empty, ...sums);
  const picture = svg("svg", { viewBox: `0 0 ${WIDE} ${at.bottom + 8}`, role: "group", "aria-label": "mask and weights" },
    heading(data, at, at.mask, "mask: query ↓, key → (× hidden)"),
    heading(data, at, at.weights, "weights"),
    text(at.sums, at.top - 6, "sum", { class: "small", "aria-hidden": "true" }), rowNames(data, at), drawn, seen, ...cross);

  const rule = () => ruled(data, model.get("causal"), model.get("padding"));
  function setRule(causal, padding) {
    const now = model.get("mask"), plain = rule(), next = ruled(data, causal, padding);
    model.set("causal", causal);
    model.set("padding", padding);
    model.set("mask", next.map((row, i) => row.map((open, j) => (now[i][j] === plain[i][j] ? open : now[i][j]))));
    model.save_changes();
  }
  function paint(i, j, open) {
    const now = model.get("mask");
    if (now[i][j] === open) return;
    put(model, "mask", now.map((row, r) => row.map((was, c) => (r === i && c === j ? open : was))));
  }
  const pad = slider("padding", columns, (n) => (n ? `the last ${n > 1 ? `${n} keys` : "key"}` : "none"),
    (n) => { if (n !== model.get("padding")) setRule(model.get("causal"), n); });
  const causal = toggle("causal", (on) => setRule(on, model.get("padding")));
  const back = html("button", { type: "button", onclick: () => put(model, "mask", rule()) }, "Undo the drawing");
  const cell = html("p", { class: "at-cell" }), said = html("p", { "aria-live": "polite", class: "told" });
  const word = (token) => html("bdi", { dir: "auto" }, `“${shown(token)}”`);
  const numbers = table("Weights as a table", () => {
    const now = model.get("mask"), values = maskedSoftmax(data.scores, now);
    const line = (row, i) => row.map((value, j) => (now[i][j] ? value.toFixed(3) : "hidden"));
    return {
      caption: "Attention weights: a row for each query, a column for each key", head: ["query", ...data.keys.map(shown)],
      rows: values.map((row, i) => [shown(data.queries[i]), ...line(row, i)]),
    };
  });
  root.append(html("div", { class: "controls" }, pad.row, ...(data.self ? [causal.button] : []), back),
    picture, cell, said, numbers.fold, html("p", { class: "note" }, NOTE));

  function tell(now, values) {
    const [i, j] = here, score = data.scores[i][j].toFixed(2).replace("-", "−");
    const names = CONVENTIONS.flatMap(([open, hidden, whose], k) => (
      [k ? " · " : "", html("strong", {}, now[i][j] ? open : hidden), ` ${whose}`]));
    cell.replaceChildren(word(data.queries[i]), " → ", word(data.keys[j]),
      `: score ${score}, weight ${values[i][j].toFixed(2)}`, html("br", {}), ...names);
    cross.forEach((box, k) => {
      box.setAttribute("x", (k ? at.weights : at.mask) + j * at.wide);
      box.setAttribute("y", at.top + i * at.tall);
    });
  }

  function draw() {
    const now = model.get("mask"), values = maskedSoftmax(data.scores, now), plain = rule();
    const small = at.wide < 26;
    now.forEach((row, i) => row.forEach((open, j) => {
      const { box, sign } = mask[i][j], weight = weights[i][j], value = values[i][j];
      box.setAttribute("class", `cell ${open ? "open" : "hidden"} ${open === plain[i][j] ? "" : "by-hand"}`);
      box.setAttribute("aria-label", `query ${shown(data.queries[i])}, key ${shown(data.keys[j])}: ${
        open ? "may be attended to" : "hidden"}, weight ${value.toFixed(2)}`);
      sign.textContent = open ? "" : "×";
      weight.box.setAttribute("class", "cell positive");
      weight.box.setAttribute("fill-opacity", value);
      weight.sign.textContent = open ? (small ? "" : value.toFixed(2).replace(/^0/, "")) : "×";
      weight.sign.setAttribute("class", `middle number ${open ? "" : "faint"}`);
    }));
    const bare = now.flatMap((row, i) => (row.some((open) => open) ? [] : [i]));
    data.queries.forEach((_, i) => {
      empty[i].setAttribute("visibility", bare.includes(i) ? "visible" : "hidden");
      sums[i].textContent = bare.includes(i) ? "0: none" : "1";
    });
    const hidden = now.flat().filter((open) => !open).length;
    said.replaceChildren(`${hidden} of ${rows * columns} pairs are hidden. `);
    if (bare.length) said.append("Nothing is left to ", ...bare.flatMap((i, k) => [k ? ", " : "", word(data.queries[i])]),
      ": zeros here. Other code gives NaN (−∞ added), or equal weights (a large negative number put in).");
    pad.mark(model.get("padding"));
    causal.mark(model.get("causal"));
    back.disabled = !now.some((row, i) => row.some((open, j) => open !== plain[i][j]));
    tell(now, values);
    numbers.draw();
  }

  // Which cell of which matrix lies under the pointer.
  function under(event) {
    const box = picture.getBoundingClientRect(), scale = WIDE / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    const i = Math.floor((y - at.top) / at.tall), of = (left) => Math.floor((x - left) / at.wide);
    for (const [left, paints] of [[at.mask, true], [at.weights, false]]) {
      const j = of(left);
      if (i >= 0 && i < rows && j >= 0 && j < columns) return { i, j, paints };
    }
    return null;
  }
  function look(i, j) {
    here = [i, j];
    if (!frameAsked) frameAsked = requestAnimationFrame(() => {
      frameAsked = 0;
      tell(model.get("mask"), maskedSoftmax(data.scores, model.get("mask")));
    });
  }
  mask.forEach((row, i) => row.forEach(({ box }, j) => box.addEventListener("focus", () => {
    mask[keyed[0]][keyed[1]].box.setAttribute("tabindex", "-1");
    box.setAttribute("tabindex", "0");
    keyed = [i, j];
    look(i, j);
  })));
  const focusOn = (i, j) => mask[i][j].box.focus({ preventScroll: true });
  picture.addEventListener("pointerdown", (event) => {
    const found = under(event);
    if (!found?.paints || event.button !== 0) return;
    event.preventDefault();
    painting = !model.get("mask")[found.i][found.j];
    picture.setPointerCapture(event.pointerId);
    focusOn(found.i, found.j);
    paint(found.i, found.j, painting);
  });
  picture.addEventListener("pointermove", (event) => {
    const found = under(event);
    if (!found || (found.i === here[0] && found.j === here[1])) return;
    look(found.i, found.j);
    if (painting !== null && found.paints) paint(found.i, found.j, painting);
  });
  for (const end of ["pointerup", "pointercancel"]) picture.addEventListener(end, () => { painting = null; });

  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  drawn.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const [i, j] = keyed;
    if (event.key === " " || event.key === "Enter") paint(i, j, !model.get("mask")[i][j]);
    else if (event.key === "Home" || event.key === "End") focusOn(i, event.key === "Home" ? 0 : columns - 1);
    else if (event.key in steps) {
      const [down, right] = steps[event.key], inside = (n, most) => Math.max(0, Math.min(most - 1, n));
      focusOn(inside(i + down, rows), inside(j + right, columns));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  mask[0][0].box.setAttribute("tabindex", "0");

  const unfollow = follow(model, ["mask", "causal", "padding"], root, draw);
  return () => {
    cancelAnimationFrame(frameAsked);
    unfollow();
  };
}

export default { render };
