// Which tokens are chosen, and what becomes of them: the rule of masked_tokens.py, number for number.

export const nChosen = (rate, free) => Math.min(free, Math.max(1, Math.floor(rate * free + 0.5)));

// Of one draw: how early each token is chosen, from 0; ties by position, since the sort is stable. Three uniforms a
// token: when, what, which word.
export function ranks(uniforms, free) {
  const order = [...free.keys()].filter((i) => free[i]);
  order.sort((a, b) => uniforms[3 * a] - uniforms[3 * b]);
  const rank = new Array(free.length).fill(Infinity);
  order.forEach((token, place) => { rank[token] = place; });
  return rank;
}

// 0 masked, 1 random, 2 unchanged; -1 not chosen.
export function kindsOf(uniforms, rank, chosen, [masked, random]) {
  return rank.map((place, i) => {
    if (place >= chosen) return -1;
    const what = uniforms[3 * i + 1];
    return what < masked ? 0 : what < masked + random ? 1 : 2;
  });
}

export function readAs(tokens, uniforms, kinds, vocabulary, mask) {
  return tokens.map((token, i) => {
    if (kinds[i] === 0) return mask;
    return kinds[i] === 1 ? vocabulary[Math.floor(uniforms[3 * i + 2] * vocabulary.length)] : token;
  });
}

export function masked(tokens, uniforms, free, rate, shares, vocabulary, mask) {
  const chosen = nChosen(rate, free.filter(Boolean).length);
  const kinds = kindsOf(uniforms, ranks(uniforms, free), chosen, shares);
  return { kinds, read: readAs(tokens, uniforms, kinds, vocabulary, mask) };
}
