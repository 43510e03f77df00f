// The canvases of the neuron view. A column is a dimension, from the query at the top down through all keys.

import { ink, sharp } from "./kit.js";

const LABEL = 104, TAG = 30, NUMBERS = [60, 56, 64, 44], STACKED = 64, EDGE = 8; // of columns
const ROOM_FOR_NUMBERS = 40, WIDEST = 96, LINE = 14; // widths of a cell; height of its number, where there is room
const NUMBERED = 30; // pixels between the numbers of two dimensions

// Where things lie in a sheet that is `width` wide, for heads of `n` dimensions. Where it is narrow, score and weight
// stand below each other.
export function geometry(width, n, narrow) {
  const columns = narrow ? [STACKED] : NUMBERS;
  const left = LABEL + TAG, right = width - columns.reduce((sum, each) => sum + each) - 2 * EDGE;
  const cell = Math.max(0.5, Math.min(WIDEST, (right - left) / n)), wide = cell >= ROOM_FOR_NUMBERS;
  const line = wide ? LINE : 0, row = (narrow ? 58 : 48) + 2 * line;
  const bar = narrow ? { bar: 4, barLong: LABEL - 12, barTop: row - 9, barTall: 5 }
    : { bar: width - EDGE - NUMBERS[2] - NUMBERS[3] + 8, barLong: NUMBERS[2] - 10, barTop: row / 2 - 7, barTall: 14 };
  return {
    width, left, cell, n, line, top: (narrow ? 66 : 58) + line, row, key: 11, product: 31, ...bar,
    columns: `${LABEL}px 1fr ${columns.map((each) => `${each}px`).join(" ")}`,
  };
}

export function dimensionAt(g, order, x) {
  const place = Math.floor((x - g.left) / g.cell);
  return x >= g.left && place < g.n ? order[place] : null;
}

export function strongest(values) {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return most || 1;
}

const shown = (value) => value.toFixed(2).replace("-", "−");

// Everything on a canvas takes its colours from here: text from the host, the two signs from kit.css.
export function brush(root, canvas, width, height) {
  const style = getComputedStyle(root), pen = sharp(canvas, width, height);
  pen.font = '11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
  pen.textBaseline = "middle";
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const [positive, negative, mark] = ["positive", "negative", "mark"].map(colour);
  return { pen, ink: ink(root).colour, positive, negative, mark };
}

function words({ pen, ink: colour }, x, y, text, align, alpha = 1) {
  pen.globalAlpha = alpha;
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.fillText(text, x, y);
}

function line({ pen, ink: colour }, g, y) {
  pen.globalAlpha = 0.45;
  pen.fillStyle = colour;
  pen.fillRect(g.left, y - 0.5, g.cell * g.n, 1);
}

// Numbers on a line: above it if positive, below if negative. A vector's cells are all as high, and stronger for
// larger numbers; products are as high as they are large, since their heights are what adds up.
function numbers(b, g, order, values, y, tall, look) {
  const gap = g.cell > 4 ? 1 : 0;
  order.forEach((dimension, place) => {
    const value = values[dimension], share = Math.min(1, Math.abs(value) / look.peak);
    if (share === 0) return;
    const high = look.bars ? Math.max(0.7, share * tall / 2) : tall / 2;
    b.pen.globalAlpha = look.alpha * (look.bars ? 1 : 0.12 + 0.88 * share);
    b.pen.fillStyle = value < 0 ? b.negative : b.positive;
    b.pen.fillRect(g.left + place * g.cell, value < 0 ? y : y - high, g.cell - gap, high);
  });
  line(b, g, y);
  if (!g.line) return;
  const below = y + tall / 2 + g.line / 2;
  order.forEach((dimension, place) => {
    words(b, g.left + (place + 0.5) * g.cell, below, shown(values[dimension]), "center", look.alpha);
  });
}

// The frame of one dimension, from `top` to `bottom`.
function band(b, g, order, dimension, top, bottom) {
  const place = order.indexOf(dimension);
  if (place < 0) return;
  const x = g.left + place * g.cell;
  b.pen.globalAlpha = 0.13;
  b.pen.fillStyle = b.mark;
  b.pen.fillRect(x, top, g.cell, bottom - top);
  b.pen.globalAlpha = 1;
  b.pen.fillRect(x - 1.5, top, 1.5, bottom - top);
  b.pen.fillRect(x + g.cell - (g.cell > 4 ? 1 : 0), top, 1.5, bottom - top);
}

export function drawQuery(b, g, order, q, dimension) {
  const y = 38;
  words(b, g.left - 6, y, "q", "right", 0.8);
  numbers(b, g, order, q, y, 26, { peak: strongest(q), alpha: 1 });
  const chosen = order.indexOf(dimension), every = 2 ** Math.max(0, Math.ceil(Math.log2(NUMBERED / g.cell)));
  for (let place = 0; place < g.n; place += every) {
    if (chosen >= 0 && Math.abs(place - chosen) * g.cell < NUMBERED - 4) continue; // the chosen one stands there
    words(b, g.left + (place + 0.5) * g.cell, y - 23, String(order[place]), "center", 0.7);
  }
  if (dimension === null) return;
  band(b, g, order, dimension, y - 15, g.top);
  b.pen.font = `bold ${b.pen.font}`;
  words(b, g.left + (chosen + 0.5) * g.cell, y - 23, String(dimension), "center");
}

// The keys of one query that are in sight; `offset` is how far they are scrolled.
export function drawKeys(b, g, order, now, { offset, nKeys, key, dimension, peaks }) {
  const first = Math.floor(offset / g.row), last = Math.min(nKeys, Math.ceil((offset + g.height) / g.row));
  const looks = { vector: { peak: peaks.k }, product: { peak: peaks.product, bars: true } };
  for (let i = first; i < last; i++) {
    const top = i * g.row - offset, from = i * now.width, to = from + now.width, alpha = now.open[i] ? 1 : 0.4;
    const keyLine = top + 5 + g.key / 2, productLine = top + g.row - 2 - g.line - g.product / 2;
    words(b, g.left - 6, keyLine, "k", "right", 0.8 * alpha);
    words(b, g.left - 6, productLine, "q×k", "right", 0.8 * alpha);
    numbers(b, g, order, now.k.subarray(from, to), keyLine, g.key, { ...looks.vector, alpha });
    numbers(b, g, order, now.products.subarray(from, to), productLine, g.product, { ...looks.product, alpha });
    b.pen.globalAlpha = 0.15;
    b.pen.fillStyle = b.ink;
    b.pen.fillRect(g.bar, top + g.barTop, g.barLong, g.barTall);
    b.pen.globalAlpha = 1;
    b.pen.fillStyle = b.positive;
    b.pen.fillRect(g.bar, top + g.barTop, g.barLong * now.weights[i], g.barTall);
  }
  if (dimension !== null) band(b, g, order, dimension, 0, Math.min(g.height, nKeys * g.row - offset));
  b.pen.globalAlpha = 1;
  b.pen.strokeStyle = b.mark;
  b.pen.lineWidth = 2;
  b.pen.strokeRect(1, key * g.row - offset + 1, g.width - 2, g.row - 1);
}
