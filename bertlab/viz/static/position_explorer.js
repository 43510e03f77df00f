import { chunks } from "./chunks.js";
import { label, plot } from "./curves.js";
import { follow, frame, html, ink, onTheme, put, sharp, slider, svg, table } from "./kit.js";

// The heat map is as wide as the picture of 860; below it, on the same columns, stands the vector of one position.
const SECOND = 492, ALONG = 340; // left edge of the second curve, width of both
const LEFT = 62, ROOM = 770, TOP = 40, TALLEST = 256, STEPS = [1, 4, 16, 64];

function layout({ positions, dimensions }) {
  // Whole pixels where cells are small: columns of unequal width would draw patterns of their own.
  const cell = ROOM / dimensions, wide = cell >= 1 && cell < 6 ? Math.floor(cell) * dimensions : ROOM;
  const row = TALLEST / positions, tall = Math.min(18, row >= 1 ? Math.max(1, Math.floor(row)) : row) * positions;
  return { wide, tall, drops: row < 1 || cell < 1 };
}

// The table as a picture with a pixel for each number.
function pixels(values, { positions, dimensions, limit, palette }) {
  const canvas = Object.assign(document.createElement("canvas"), { width: dimensions, height: positions });
  const pen = canvas.getContext("2d"), image = pen.createImageData(dimensions, positions), last = palette.length - 1;
  const colours = palette.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  values.forEach((value, i) => {
    const [red, green, blue] = colours[Math.round((last * (Math.max(-1, Math.min(1, value / limit)) + 1)) / 2)];
    image.data[4 * i] = red;
    image.data[4 * i + 1] = green;
    image.data[4 * i + 2] = blue;
    image.data[4 * i + 3] = 255;
  });
  pen.putImageData(image, 0, 0);
  return canvas;
}

// Cosine of one row with every other one; 0 for a row of zeros.
function similarities(values, lengths, { positions, dimensions }, position) {
  return Array.from({ length: positions }, (_, other) => {
    let product = 0;
    for (let k = 0; k < dimensions; k++) product += values[position * dimensions + k] * values[other * dimensions + k];
    return product / (lengths[position] * lengths[other] || 1);
  });
}

const NOTE = "Try this: move the position. Where the curve of similarity moves along and keeps its shape, as with "
  + "sinusoids, only the distance of two positions counts; where it changes its shape, as in most learned tables, the "
  + "place counts, too. Point at a column to see its numbers along all positions, click to stay there. ";

function render({ model, el }) {
  const data = model.get("payload"), at = layout(data), { positions, dimensions } = data;
  const all = (n) => Array.from({ length: n }, (_, i) => i), places = all(positions), columns = all(dimensions);
  const root = frame(el, "position-explorer", data.title || "A table of positions", () => false);
  const ends = [-data.limit, data.limit].map((value) => label(Number(value.toPrecision(2))));
  if (data.beyond) ends.splice(0, 2, `≤ ${ends[0]}`, `≥ ${ends[1]}`); // all beyond has the same colour
  let values = null, lengths = null, image = null, asked = 0, pointed = null;

  const canvas = html("canvas", { role: "img", "aria-label": "heat map of the table, a row for each position" });
  const under = svg("svg", { role: "img", viewBox: "0 0 860 312",
    "aria-label": "vector, dimension and similarity as curves; the table below has the numbers" });
  const seen = html("p", { class: "at-cell" }, "loading …"), said = html("p", { class: "near" });
  const spoken = html("p", { class: "spoken", "aria-live": "polite" }); // of what is chosen, not of what is pointed at
  const move = (trait, most) => slider(trait, most - 1, (n) => String(n), (n) => put(model, trait, n));
  const position = move("position", positions), dimension = move("dimension", dimensions);
  const row = (p) => Array.from(values.subarray(p * dimensions, (p + 1) * dimensions));
  const column = (k) => places.map((p) => values[p * dimensions + k]);
  const like = (p) => similarities(values, lengths, data, p);
  const numbers = table("Positions as a table", () => {
    const [p, k] = [model.get("position"), model.get("dimension")], cosines = like(p), wave = column(k);
    return { caption: `Every position: its value in dimension ${k}, its similarity to position ${p}`,
      head: ["position", `dimension ${k}`, "cosine"],
      rows: places.map((i) => [String(i), label(wave[i]), cosines[i].toFixed(3)]) };
  });
  const vector = table("The vector as a table", () => {
    const numbers = row(model.get("position"));
    return { caption: `Vector of position ${model.get("position")}`, head: ["dimension", "value"],
      rows: columns.map((k) => [String(k), label(numbers[k])]) };
  });
  const note = [`${NOTE}Numbers are rounded to within ${data.error}.`];
  if (data.beyond) note.push(`The largest ${data.beyond} % share the end colours; sizes reach ${data.largest}.`);
  if (at.drops) note.push("Not every row and column has a pixel of its own.");
  root.append(html("div", { class: "controls" }, position.row, dimension.row), canvas, seen, under, said, spoken,
    numbers.fold, vector.fold, html("p", { class: "note" }, note.join(" ")));

  function drawTable(p, k) {
    const pen = sharp(canvas, 860, TOP + at.tall + 6), { colour } = ink(root);
    Object.assign(canvas.style, { width: "100%", height: "auto" });
    pen.imageSmoothingEnabled = false;
    pen.drawImage(image, LEFT, TOP, at.wide, at.tall);
    Object.assign(pen, { fillStyle: colour, font: "14px system-ui, 'DejaVu Sans', sans-serif", textAlign: "left" });
    pen.fillText("position ↓, dimension →", 0, 14);
    const x = LEFT + (at.wide * (k + 0.5)) / dimensions, y = TOP + (at.tall * (p + 0.5)) / positions;
    pen.textAlign = x > 780 ? "right" : "left";
    pen.fillText(String(k), x > 780 ? x - 9 : x + 9, TOP - 3);
    pen.textAlign = "right";
    pen.fillText(String(p), LEFT - 16, y + 5);
    pen.fillText(ends[0], 696, 14);
    pen.textAlign = "left";
    pen.fillText(ends[1], 804, 14);
    const ramp = pen.createLinearGradient(700, 0, 800, 0), last = data.palette.length - 1;
    data.palette.forEach((shade, i) => ramp.addColorStop(i / last, shade));
    pen.fillStyle = ramp;
    pen.fillRect(700, 2, 100, 14);
    // Arrowheads in the margins: the place is seen without a colour.
    pen.fillStyle = getComputedStyle(root).getPropertyValue("--mark");
    const right = [[LEFT - 2, y], [LEFT - 13, y - 6], [LEFT - 13, y + 6]];
    const down = [[x, TOP - 2], [x - 6, TOP - 13], [x + 6, TOP - 13]];
    for (const corners of [right, down]) {
      pen.beginPath();
      corners.forEach((corner) => pen.lineTo(...corner));
      pen.fill();
    }
  }

  function drawCurves(p, k) {
    const numbers = row(p), wave = column(k), names = { x: "position", y: "value" };
    const around = (some) => { // the same for most, so that curves can be compared
      const most = Math.max(data.limit, ...some.map(Math.abs));
      return [-most, most];
    };
    const first = plot({ left: LEFT, top: 24, width: at.wide, height: 80 }, [-0.5, dimensions - 0.5], around(numbers),
      { title: `vector of position ${p}`, x: "dimension", y: "value" });
    const low = { top: 176, width: ALONG, height: 100 }, along = [0, positions - 1];
    const second = plot({ ...low, left: LEFT }, along, around(wave),
      { ...names, title: `dimension ${k} along positions` });
    const cosines = like(p), least = Math.min(0, ...cosines);
    const third = plot({ ...low, left: SECOND }, along, [least < 0 ? Math.min(-0.25, least) : 0, 1],
      { ...names, title: `similarity to position ${p}`, y: "cosine" });
    const stems = dimensions <= 128 ? [first.stems(columns, numbers)] : [];
    under.replaceChildren(first.node, first.upright(k), ...stems, first.dots(columns, numbers),
      second.node, second.upright(p), second.line(places, wave),
      third.node, third.upright(p), third.line(places, cosines));
    return cosines;
  }

  function draw() {
    asked = 0;
    if (!values) return;
    // What is pointed at is shown everywhere as if it were chosen, until the pointer leaves.
    const { p, k } = pointed ?? { p: model.get("position"), k: model.get("dimension") };
    position.mark(p);
    dimension.mark(k);
    drawTable(p, k);
    const cosines = drawCurves(p, k);
    seen.textContent = `position ${p}, dimension ${k}: ${label(values[p * dimensions + k])}`;
    if (pointed) seen.append(" (under the pointer; click to stay here)");
    const near = STEPS.filter((n) => n < positions).map((n) => {
      const there = [p - n, p + n].filter((other) => other >= 0 && other < positions);
      const numbers = there.map((other) => cosines[other].toFixed(2).replace("-", "−"));
      return `${n} step${n > 1 ? "s" : ""} ${numbers.join(" and ")}`;
    });
    const words = `Similarity of position ${p} to those around it, by distance: ${near.join("; ")}.`;
    said.textContent = words;
    if (!pointed && spoken.textContent !== words) spoken.textContent = words;
    numbers.draw();
    vector.draw();
  }
  const soon = () => { asked ||= requestAnimationFrame(draw); };
  function moved() { // sliders at once: the next key goes on from there
    pointed = null;
    position.mark(model.get("position"));
    dimension.mark(model.get("dimension"));
    soon();
  }

  // Where on a picture of 860 the pointer is.
  function within(event, picture) {
    const box = picture.getBoundingClientRect(), scale = 860 / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  }
  const inside = (n, most) => Math.max(0, Math.min(most - 1, n));
  function pointAt(event) {
    const [x, y] = within(event, canvas);
    const k = Math.floor(((x - LEFT) / at.wide) * dimensions), p = Math.floor(((y - TOP) / at.tall) * positions);
    return k >= 0 && k < dimensions && p >= 0 && p < positions ? { p, k } : null;
  }
  function choose(event) {
    const found = pointAt(event);
    if (!found) return;
    put(model, "position", found.p);
    put(model, "dimension", found.k);
  }
  // On the vector a dimension, on a curve a position.
  function chooseOnCurve(event) {
    const [x, y] = within(event, under), from = x < SECOND - 40 ? LEFT : SECOND;
    if (y > 24 && y < 24 + 84 && x >= LEFT && x <= LEFT + at.wide) {
      put(model, "dimension", inside(Math.floor(((x - LEFT) / at.wide) * dimensions), dimensions));
    } else if (y > 172 && y < 280 && x >= from - 6 && x <= from + ALONG + 6) {
      put(model, "position", inside(Math.round(((x - from) / ALONG) * (positions - 1)), positions));
    }
  }
  canvas.addEventListener("pointerdown", choose);
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons === 1) choose(event);
    pointed = pointAt(event);
    soon();
  });
  canvas.addEventListener("pointerleave", () => { pointed = null; soon(); });
  under.addEventListener("pointerdown", chooseOnCurve);
  under.addEventListener("pointermove", (event) => { if (event.buttons === 1) chooseOnCurve(event); });

  const source = chunks(model, (_, [levels]) => Float32Array.from({ length: positions * dimensions },
    (_, i) => data.step * levels.getInt16(2 * i, true)));
  source.load(["table"]).then(([arrived]) => {
    if (!root.isConnected) return;
    values = arrived;
    lengths = places.map((p) => Math.hypot(...row(p)));
    image = pixels(values, data);
    draw();
  });
  const untheme = onTheme(root, soon);
  const unfollow = follow(model, ["position", "dimension"], root, moved);
  return () => {
    cancelAnimationFrame(asked);
    source.close();
    untheme();
    unfollow();
  };
}

export default { render };
