// What is shown of a layer, and what it adds up to. The same as head_selection.py; nothing here draws.

import { shown } from "./kit.js";
import { merged } from "./weights.js";

// What a row is called in a sentence: of several that look alike, also where it stands.
function called(name, positions, alike) {
  const where = positions.length > 1 ? `tokens ${positions[0]}–${positions.at(-1)}` : `token ${positions[0]}`;
  return `“${shown(name)}”${alike > 1 ? ` (${where})` : ""}`;
}

// One column: what is written in each row, what it is called, and the positions of the tokens that it stands for.
export function rowsOf(set, side, { merge_words, hide_special }, sentence = null) {
  const special = new Set(set[`${side}_special`]), alike = new Map();
  const all = merge_words ? set[`${side}_words`] : set[side].map((token, i) => [token, [i]]);
  for (const [name] of all) alike.set(name, (alike.get(name) ?? 0) + 1);
  const inB = ([first]) => set.sentence_b !== null && first >= set.sentence_b;
  return all.map(([name, positions]) => ({
    name, positions, b: inB(positions), said: called(name, positions, alike.get(name)),
  }))
    .filter((row) => !(hide_special && special.has(row.positions[0])) && (!sentence || row.b === (sentence === "B")));
}

export function bothColumns(set, chosen) {
  const [from, to] = chosen.sentences === "all" || set.sentence_b === null ? [null, null] : chosen.sentences;
  return [rowsOf(set, "queries", chosen, from), rowsOf(set, "keys", chosen, to)];
}

// Rows that stand for any of these positions.
export function rowsWith(rows, positions) {
  const wanted = new Set(positions);
  return rows.flatMap((row, i) => (row.positions.some((position) => wanted.has(position)) ? [i] : []));
}

// Rows that stand for any of these positions, but have been filtered away.
export function hiddenRows(set, side, rows, chosen, positions) {
  const all = rowsOf(set, ["queries", "keys"][side], { ...chosen, hide_special: false });
  const here = new Set(rows[side].map((row) => row.positions[0]));
  return rowsWith(all, positions).map((i) => all[i]).filter((row) => !here.has(row.positions[0]));
}

// Weights of one head between the rows of both columns. What is hidden is not made up for.
export function between(raw, set, [queries, keys], topK) {
  const columns = set.keys.length;
  const whole = queries.length === set.queries.length && keys.length === columns;
  const groups = [queries, keys].map((rows) => rows.map((row) => row.positions));
  const weights = whole ? raw : merged(raw, columns, ...groups);
  return topK ? strongest(weights, keys.length, topK) : weights;
}

// The k largest weights of each row; all others become 0. Of equal ones, the first stay.
export function strongest(weights, columns, k) {
  const kept = new Float32Array(weights.length);
  for (let start = 0; start < weights.length; start += columns) {
    const best = []; // places, the largest first
    for (let at = start; at < start + columns; at++) {
      if (best.length === k && weights[at] <= weights[best[k - 1]]) continue;
      let place = best.length;
      while (place && weights[at] > weights[best[place - 1]]) place--;
      best.splice(place, 0, at);
      if (best.length > k) best.pop();
    }
    for (const at of best) kept[at] = weights[at];
  }
  return kept;
}

// What each row of the other column gives to the chosen rows of `side`, or gets from them, summed.
export function sums(weights, nKeys, { side, rows }, nOther) {
  const out = new Float64Array(nOther);
  for (let other = 0; other < nOther; other++) {
    for (const row of rows) out[other] += side === 0 ? weights[row * nKeys + other] : weights[other * nKeys + row];
  }
  return out;
}

// The mean over several heads of what `sums` gives; zeros if there is no head.
export function mean(lists, n) {
  const out = new Float64Array(n);
  for (const list of lists) for (let i = 0; i < n; i++) out[i] += list[i] / lists.length;
  return out;
}
