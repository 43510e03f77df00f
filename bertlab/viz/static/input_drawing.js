// The canvas of the input flow: a column for each token, a row for each kind of vector.

import { ink, sharp } from "./kit.js";

export const COLUMN = 66, TOKEN = 30, ID = 22;
const HEAD = 20, CELL = 6, FOOT = 8, EDGE = 6; // of a row: what a vector belongs to, its cells, room; at its sides
const DASHES = [[], [5, 3], [2, 2]]; // of the frames of sentences A, B, C

// Where each row begins, and how high it is.
export function layout(data, kinds) {
  const count = Math.max(...Object.values(data.cells).map((rows) => rows[0].length)), tall = HEAD + count * CELL + FOOT;
  const rows = [{ kind: "tokens", y: 0, tall: TOKEN }];
  if (data.ids) rows.push({ kind: "ids", y: TOKEN, tall: ID });
  for (const kind of kinds) rows.push({ kind, y: rows.at(-1).y + rows.at(-1).tall, tall });
  return { rows, height: rows.at(-1).y + rows.at(-1).tall + 2, count };
}

function words(pen, x, y, text, size, alpha) {
  pen.font = `${size}px system-ui, "Segoe UI", "DejaVu Sans", sans-serif`;
  pen.globalAlpha = alpha;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(text, x, y);
}

// A vector: its numbers as bars, from a middle line to the right or to the left, in a frame.
function vector(pen, look, x, y, values, segment, isThere) {
  const wide = COLUMN - 2 * EDGE, middle = x + COLUMN / 2;
  pen.strokeStyle = look.ink;
  pen.lineWidth = 1;
  pen.globalAlpha = isThere ? 0.85 : 0.25;
  pen.setLineDash(DASHES[segment % DASHES.length]);
  pen.strokeRect(x + EDGE + 0.5, y + 0.5, wide - 1, values.length * CELL - 1);
  pen.setLineDash([]);
  if (!isThere) return;
  pen.globalAlpha = 0.35;
  pen.fillStyle = look.ink;
  pen.fillRect(middle - 0.5, y, 1, values.length * CELL);
  pen.globalAlpha = 1;
  values.forEach((value, i) => {
    const long = Math.abs(value) * (wide / 2 - 2);
    pen.fillStyle = value < 0 ? look.negative : look.positive;
    pen.fillRect(value < 0 ? middle - long : middle, y + i * CELL + 1, long, CELL - 2);
  });
}

// What a vector belongs to: nothing else decides which row of its table it is.
function owner(data, kind, i) {
  if (kind === "segment") return data.letters[i];
  return kind === "position" ? String(i) : "";
}

// The columns that are in sight, up to the present step; later vectors keep their places.
export function draw(root, canvas, data, places, { offset, width, reached, position }) {
  const style = getComputedStyle(root), pen = sharp(canvas, width, places.height);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const [positive, negative, mark] = ["positive", "negative", "mark"].map(colour);
  const look = { ink: ink(root).colour, positive, negative, mark };
  const last = Math.min(data.tokens.length, Math.ceil((offset + width) / COLUMN));
  for (let i = Math.floor(offset / COLUMN); i < last; i++) {
    const x = i * COLUMN - offset, segment = data.letters[i].charCodeAt(0) - 65;
    for (const { kind, y } of places.rows) {
      const isThere = reached.has(kind);
      pen.fillStyle = look.ink;
      if (kind === "ids" && isThere) words(pen, x + COLUMN / 2, y + ID / 2 - 2, String(data.ids[i]), 12, 1);
      if (!(kind in data.cells)) continue;
      if (isThere) words(pen, x + COLUMN / 2, y + HEAD / 2 + 2, owner(data, kind, i), 12, 1);
      vector(pen, look, x, y + HEAD, data.cells[kind][i], segment, isThere);
    }
  }
  pen.globalAlpha = 1;
  pen.strokeStyle = look.mark;
  pen.lineWidth = 2;
  pen.strokeRect(position * COLUMN - offset + 1.5, 1, COLUMN - 3, places.height - 2);
}
