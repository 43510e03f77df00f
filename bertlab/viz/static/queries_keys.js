// Queries and keys of single heads: asked for, decoded, and compared as `score_keys` in queries_keys.py does.

import { chunks } from "./chunks.js";

// Float32Array of rows x width: floats as they are, or levels of two bytes and a step for each row.
function vectors([numbers, steps], rows, width) {
  const out = new Float32Array(rows * width);
  for (let row = 0, at = 0; row < rows; row++) {
    const step = steps?.getFloat32(4 * row, true);
    for (let column = 0; column < width; column++, at++) {
      out[at] = steps ? step * numbers.getInt16(2 * at, true) : numbers.getFloat32(4 * at, true);
    }
  }
  return out;
}

export const chunkName = (layer, head) => `${layer}/${head}`;

// `peek(name)` gives what is here, or undefined; `load(names)` promises all. The mask is a chunk, too.
export function headSource(model) {
  const data = model.get("payload"), half = data.bytes === 4 ? 1 : 2;
  return chunks(model, (name, buffers) => {
    if (name === "mask") return buffers[0];
    const width = data.widths[Number(name.split("/")[0])];
    return {
      q: vectors(buffers.slice(0, half), data.queries.length, width),
      k: vectors(buffers.slice(half), data.keys.length, width),
      width,
    };
  });
}

// Whether a query may attend to a key: a bit each, a row of whole bytes for each query.
function allowed(mask, query, key, nKeys) {
  return !mask || (mask.getUint8(query * Math.ceil(nKeys / 8) + (key >> 3)) >> (7 - (key % 8))) % 2 === 1;
}

// One query against every key: all products, their sums, and the softmax over what may be attended to.
export function scoreKeys({ q, k, width }, mask, query, nKeys, scale) {
  const mine = q.subarray(query * width, (query + 1) * width), products = new Float32Array(nKeys * width);
  const scores = new Float64Array(nKeys), weights = new Float64Array(nKeys), open = [];
  for (let key = 0, at = 0; key < nKeys; key++) {
    for (let i = 0; i < width; i++, at++) {
      const product = mine[i] * k[at];
      products[at] = product;
      scores[key] += product;
    }
    open.push(allowed(mask, query, key, nKeys));
  }
  const scaled = scores.map((score) => score / scale);
  let peak = -Infinity, total = 0;
  open.forEach((isOpen, key) => { if (isOpen) peak = Math.max(peak, scaled[key]); });
  open.forEach((isOpen, key) => { if (isOpen) total += weights[key] = Math.exp(scaled[key] - peak); });
  for (let key = 0; key < nKeys; key++) weights[key] /= total || 1;
  // What each dimension adds to the average key: the mean under the weights, a plain one where all are 0.
  const average = new Float64Array(width);
  for (let at = 0; at < products.length; at++) {
    average[at % width] += products[at] * (total ? weights[Math.floor(at / width)] : 1 / nKeys);
  }
  return { q: mine, k, width, products, average, scores, scaled, weights, open };
}

// What a dimension adds to the score of a key beyond the average key: softmax sees differences only.
export function beyond({ products, average, width }, key, dimension) {
  return products[key * width + dimension] - average[dimension];
}

// Dimensions by that, the largest first.
export function largestFirst(now, key) {
  const mine = Array.from({ length: now.width }, (_, dimension) => beyond(now, key, dimension));
  return [...mine.keys()].sort((a, b) => mine[b] - mine[a] || a - b);
}
