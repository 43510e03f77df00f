// Weights of single heads: asked for, decoded, and put together to words where that is wanted.

import { chunks } from "./chunks.js";

// Float32Array of rows x columns out of levels (one or two bytes each) and a step for each row.
function decoded(levels, steps, rows, columns, bytes) {
  const weights = new Float32Array(rows * columns);
  for (let row = 0, at = 0; row < rows; row++) {
    const step = steps.getFloat32(4 * row, true);
    for (let column = 0; column < columns; column++, at++) {
      weights[at] = step * (bytes === 1 ? levels.getUint8(at) : levels.getUint16(2 * at, true));
    }
  }
  return weights;
}

// From a word: the mean over its pieces; to a word: the sum. As `merge` in word_pieces.py.
export function merged(weights, columns, queryGroups, keyGroups) {
  const out = new Float32Array(queryGroups.length * keyGroups.length);
  queryGroups.forEach((queries, row) => keyGroups.forEach((keys, column) => {
    let sum = 0;
    for (const query of queries) for (const key of keys) sum += weights[query * columns + key];
    out[row * keyGroups.length + column] = sum / queries.length;
  }));
  return out;
}

export const chunkName = (set, layer, head) => `${set}/${layer}/${head}`;

// `peek(name)` gives what is here, or undefined; `load(names)` promises all.
export function headSource(model) {
  const data = model.get("payload");
  return chunks(model, (name, [levels, steps]) => {
    const set = data.sets[Number(name.split("/")[0])];
    return decoded(levels, steps, set.queries.length, set.keys.length, data.bytes);
  });
}
