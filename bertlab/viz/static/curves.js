// A small plot: two axes with their names, ticks, and lines.

import { svg, text } from "./kit.js";

// Round numbers from low to high, about as many as `most`.
export function ticks(low, high, most = 5) {
  const rough = (high - low) / most || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

// A number as a label: no longer than it must be, with a true minus sign.
export const label = (value) => String(Number(value.toPrecision(4))).replace("-", "−");

// `box` is what the lines get: { left, top, width, height }; the labels stand around it. Ranges are [low, high].
export function plot(box, xRange, yRange, names, given = {}) {
  const { xTicks = ticks(...xRange), xLabels = xTicks.map(label), yTicks = ticks(...yRange, 4) } = given;
  const part = ([low, high], value) => (high === low ? 0.5 : (value - low) / (high - low));
  const x = (value) => box.left + box.width * part(xRange, value);
  const y = (value) => box.top + box.height * (1 - part(yRange, value));
  const right = box.left + box.width, bottom = box.top + box.height;
  const node = svg("g", {},
    ...yTicks.map((value) => svg("path", { class: value ? "grid" : "line", d: `M${box.left},${y(value)} H${right}` })),
    ...yTicks.map((value) => text(box.left - 6, y(value) + 4, label(value), { class: "small end" })),
    svg("path", { class: "line", d: `M${box.left},${box.top} V${bottom} H${right}` }),
    ...xTicks.map((value, i) => text(x(value), bottom + 15, xLabels[i], { class: "small middle" })),
    text(box.left, box.top - 9, names.title, { class: "strong" }),
    text(box.left + box.width / 2, bottom + 31, names.x, { class: "small middle" }),
    svg("g", { transform: `translate(${box.left - 40} ${box.top + box.height / 2}) rotate(-90)` },
      text(0, 0, names.y, { class: "small middle" })));
  const at = (xs, ys, each) => xs.map((value, i) => each(x(value).toFixed(1), y(ys[i]).toFixed(1), i)).join("");
  const line = (xs, ys, attributes) => svg("path", {
    class: "curve", d: at(xs, ys, (left, top, i) => `${i ? "L" : "M"}${left},${top}`), ...attributes,
  });
  // Numbers that stand in no order: a dot each, and where they are few, a stem from zero.
  const dots = (xs, ys) => svg("path", { class: "dots", d: at(xs, ys, (left, top) => `M${left},${top}h0`) });
  const stems = (xs, ys) => svg("path", { class: "stems", d: at(xs, ys, (left, top) => `M${left},${y(0)}V${top}`) });
  const upright = (value) => svg("path", { class: "here-line", d: `M${x(value)},${box.top} V${bottom}` });
  return { node, x, y, line, dots, stems, upright };
}
