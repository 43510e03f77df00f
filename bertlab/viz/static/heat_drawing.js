// How a heat map is drawn: the picture of its cells, where everything lies, and what stands around the cells.

import { ink, sharp, short } from "./kit.js";

// In CSS pixels: of the box, and of cells.
export const TALLEST = 560;
export const TALLEST_CELL = 34;
export const LETTERS = 18; // of a token in a label
const READABLE = 11, SLANTED = 16, NUMBERED = 28, FRAMED = 6; // for a label, a slanted one, a number, a frame
const WIDER = 1.5; // times as wide as tall, where there is room and tokens can be read
const SLOPE = 0.96; // 55 degrees

// Dark on a light page, light on a dark one: how opaque it is tells the weight.
export const hue = (root) => (ink(root).dark ? [156, 203, 255] : [8, 48, 107]);

// What is behind a node: the colour of the nearest one around it that has one.
function behind(node, dark) {
  for (let at = node; at; at = at.parentElement) {
    const [red, green, blue, opaque = 1] = (getComputedStyle(at).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
    if (blue !== undefined && opaque > 0) return [red, green, blue];
  }
  return dark ? [17, 17, 17] : [255, 255, 255];
}

// Black or white, whichever stands out more from a colour that lies on another: by the relative luminance of WCAG.
export function readable(colour, opacity, ground) {
  const [red, green, blue] = colour.map((part, i) => {
    const share = (opacity * part + (1 - opacity) * ground[i]) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (luminance + 0.05) ** 2 > 1.05 * 0.05 ? "#000" : "#fff";
}

// Weights as a picture of a pixel a cell; where cells are smaller than pixels, of the largest weight of each block.
export function picture({ weights, rows, columns, top }, colour, block) {
  const [tall, wide] = [rows, columns].map((tokens) => Math.ceil(tokens.length / block));
  const most = new Float32Array(tall * wide);
  for (let row = 0, at = 0; row < rows.length; row++) {
    for (let column = 0; column < columns.length; column++, at++) {
      const to = Math.floor(row / block) * wide + Math.floor(column / block);
      if (weights[at] > most[to]) most[to] = weights[at];
    }
  }
  return painted(most, wide, tall, colour, (weight) => weight / top);
}

// A canvas of wide x tall pixels in one colour, as opaque as `share(value)` says.
export function painted(values, wide, tall, [red, green, blue], share) {
  const canvas = Object.assign(document.createElement("canvas"), { width: wide, height: tall });
  const pen = canvas.getContext("2d"), image = pen.createImageData(wide, tall), { data } = image;
  for (let i = 0, at = 0; i < values.length; i++) {
    data[at++] = red;
    data[at++] = green;
    data[at++] = blue;
    data[at++] = Math.round(255 * share(values[i])); // more than 255 is cut to it
  }
  pen.putImageData(image, 0, 0);
  return canvas;
}

// Sizes in CSS pixels: of a cell, and of the room for labels left of and above the cells. Without `size`, the height
// of a cell, cells are as large as lets all of them be seen.
export function layout({ rows, columns, longest }, room, size) {
  const left = Math.min(longest.row, 0.4 * room) + 12, { column } = longest;
  const kinds = [
    { least: column + 8, above: 24, angle: 0, right: 2 },
    { least: SLANTED, above: Math.sin(SLOPE) * column + 16, angle: SLOPE, right: Math.cos(SLOPE) * column },
    { least: READABLE, above: column + 12, angle: Math.PI / 2, right: 2 },
    { least: 0, above: 24, angle: null, right: 2 },
  ];
  for (const { least, above, angle, right } of kinds) {
    const most = size ?? Math.min(TALLEST_CELL, (TALLEST - above - 2) / rows.length);
    const across = size ? Infinity : Math.max(0.1, (room - left - right - 1) / columns.length);
    const width = Math.min(across, most < READABLE ? most : WIDER * most);
    if (width < least) continue;
    const height = Math.max(Math.min(most, width), Math.min(most, READABLE)); // many columns leave rows readable
    const block = Math.max(1, Math.ceil(0.99 / Math.min(width, height)));
    return { left, above, angle, width, height, block, across: left + width * columns.length + right,
      down: above + height * rows.length + 2 };
  }
}

// Everything that is in sight. `spot` is the row and the column of the cell that is pointed at, or nothing.
export function drawHeat({ canvas, root, view, map, image, spot, scroll }) {
  const style = getComputedStyle(root), { colour, dark } = ink(root), pen = sharp(canvas, view.wide, view.tall);
  const sheet = {
    pen, view, map, spot, ink: colour, hue: hue(root), ground: behind(root, dark), mark: style.getPropertyValue("--mark"),
    x: (column) => view.left + column * view.width - scroll.left,
    y: (row) => view.above + row * view.height - scroll.top,
    rows: inSight(scroll.top, view.height, view.tall - view.above, map.rows.length),
    columns: inSight(scroll.left, view.width, view.wide - view.left, map.columns.length),
    font: (points, bold) => `${bold ? "700 " : ""}${points}px ${style.fontFamily}`,
  };
  within(pen, view.left - 2, view.above - 2, view.wide, view.tall, () => {
    cells(sheet, image);
    lines(sheet);
    if (map.diagonal) diagonal(sheet);
    if (view.width >= NUMBERED) numbers(sheet);
    if (spot) cross(sheet);
  });
  within(pen, 0, view.above - 8, view.left, view.tall, () => rowLabels(sheet));
  const sparse = view.angle === null;
  within(pen, sparse ? 0 : view.left - 10, 0, view.wide, view.above, () => columnLabels(sheet));
}

function within(pen, left, top, wide, tall, write) {
  pen.save();
  pen.beginPath();
  pen.rect(left, top, wide, tall);
  pen.clip();
  write();
  pen.restore();
}

function inSight(scrolled, size, room, n) {
  return [Math.max(0, Math.floor(scrolled / size)), Math.min(n, Math.ceil((scrolled + room) / size))];
}

function cells({ pen, view, rows, columns, x, y }, image) {
  const blocks = ([from, to]) => [Math.floor(from / view.block), Math.ceil(to / view.block)];
  const [left, right] = blocks(columns), [top, bottom] = blocks(rows);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(image, left, top, right - left, bottom - top, x(left * view.block), y(top * view.block),
    (right - left) * view.block * view.width, (bottom - top) * view.block * view.height);
}

// Around all cells; between them where they are large; dashed where the second sentence begins.
function lines({ pen, view, map, rows, columns, x, y, ink: colour }) {
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  const right = x(map.columns.length), bottom = y(map.rows.length);
  const line = (x1, y1, x2, y2) => { pen.beginPath(); pen.moveTo(x1, y1); pen.lineTo(x2, y2); pen.stroke(); };
  pen.globalAlpha = 0.35;
  pen.strokeRect(x(0) - 0.5, y(0) - 0.5, right - x(0) + 1, bottom - y(0) + 1);
  if (view.width >= SLANTED) {
    pen.globalAlpha = 0.12;
    for (let row = rows[0]; row < rows[1]; row++) line(x(0), y(row), right, y(row));
    for (let column = columns[0]; column < columns[1]; column++) line(x(column), y(0), x(column), bottom);
  }
  if (map.splits) {
    pen.globalAlpha = 0.8;
    pen.setLineDash([5, 3]);
    line(x(0), y(map.splits[0]), right, y(map.splits[0]));
    line(x(map.splits[1]), y(0), x(map.splits[1]), bottom);
    pen.setLineDash([]);
  }
  pen.globalAlpha = 1;
}

// Where a token looks at itself: a guide, so that the token before or after is not taken for it.
function diagonal({ pen, view, map, rows, columns, x, y, ink: colour }) {
  Object.assign(pen, { strokeStyle: colour, lineWidth: 1, globalAlpha: 0.55 });
  if (view.height < FRAMED) {
    pen.setLineDash([4, 3]);
    pen.beginPath();
    pen.moveTo(x(0), y(0));
    pen.lineTo(x(map.columns.length), y(map.rows.length));
    pen.stroke();
    pen.setLineDash([]);
  } else {
    for (let i = Math.max(rows[0], columns[0]); i < Math.min(rows[1], columns[1]); i++) {
      pen.strokeRect(x(i) + 0.5, y(i) + 0.5, view.width - 1, view.height - 1);
    }
  }
  pen.globalAlpha = 1;
}

function numbers({ pen, view, map, rows, columns, x, y, hue: full, ground, font }) {
  pen.font = font(12);
  Object.assign(pen, { textAlign: "center", textBaseline: "middle" });
  for (let row = rows[0]; row < rows[1]; row++) {
    for (let column = columns[0]; column < columns[1]; column++) {
      const weight = map.weights[row * map.columns.length + column];
      if (weight < 0.005) continue;
      pen.fillStyle = readable(full, Math.min(1, weight / map.top), ground);
      const words = weight >= 0.995 ? "1" : weight.toFixed(2).slice(1);
      pen.fillText(words, x(column) + view.width / 2, y(row) + view.height / 2 + 1);
    }
  }
}

// The row and the column of the cell between two lines each, and the cell in a frame.
function cross({ pen, view, map, spot: [row, column], x, y, mark }) {
  pen.strokeStyle = mark;
  pen.lineWidth = 1;
  pen.strokeRect(x(0) - 0.5, y(row) - 1, x(map.columns.length) - x(0) + 1, view.height + 2);
  pen.strokeRect(x(column) - 1, y(0) - 0.5, view.width + 2, y(map.rows.length) - y(0) + 1);
  if (view.height < FRAMED) return;
  pen.lineWidth = 3;
  pen.strokeRect(x(column) - 1, y(row) - 1, view.width + 2, view.height + 2);
}

// All tokens where cells are large enough; otherwise that of one cell; without one, a position here and there.
function written([from, to], size, tokens, sparse, chosen) {
  const places = [];
  if (sparse && chosen !== undefined) return [[chosen, short(tokens[chosen], LETTERS)]];
  const every = sparse ? [5, 10, 20, 50, 100, 200, 500].find((n) => n * size >= 34) ?? 1000 : 1;
  for (let i = Math.ceil(from / every) * every; i < to; i += every) {
    places.push([i, sparse ? `${i}` : short(tokens[i], LETTERS)]);
  }
  return places;
}

function rowLabels({ pen, view, map, rows, spot, y, ink: colour, font }) {
  const sparse = view.height < READABLE, size = sparse ? 13 : Math.max(10, Math.min(13, view.height - 1));
  Object.assign(pen, { fillStyle: colour, direction: "ltr", textAlign: "right", textBaseline: "middle" });
  for (const [i, words] of written(rows, view.height, map.rows, sparse, spot?.[0])) {
    pen.font = font(size, spot?.[0] === i);
    pen.fillText(words, view.left - 6, y(i + 0.5) + 1);
  }
}

function columnLabels({ pen, view, map, columns, spot, x, ink: colour, font }) {
  const size = view.angle ? Math.max(10, Math.min(13, view.width - 1)) : 13;
  Object.assign(pen, { fillStyle: colour, direction: "ltr", textBaseline: "middle" });
  pen.textAlign = view.angle ? "left" : "center";
  for (const [i, words] of written(columns, view.width, map.columns, view.angle === null, spot?.[1])) {
    pen.font = font(size, spot?.[1] === i);
    const half = view.angle ? 0 : pen.measureText(words).width / 2;
    const middle = Math.max(half, Math.min(view.wide - half, x(i + 0.5)));
    pen.save();
    pen.translate(middle - (view.angle === SLOPE ? 3 : 0), view.above - (view.angle ? 6 : 11));
    pen.rotate(-(view.angle ?? 0));
    pen.fillText(words, 0, 0);
    pen.restore();
  }
}
