// Words and rows of the neuron view: what is text stands in the page, what is a vector on a canvas behind it.

import { html, shown, svg } from "./kit.js";
import { beyond } from "./queries_keys.js";

export const number = (value) => value.toFixed(2).replace("-", "−");
export const named = (token) => `“${shown(token)}”`;
export const MOVES = { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10 };

// Scroll a box as little as it takes to show what lies at `top`; the page around it stays where it is.
export function into(box, top, height) {
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
}

// The queries, one of them chosen: by a click, or by keys that move up and down.
export function queryList(tokens, choose) {
  const options = tokens.map((token, i) => html("div", {
    role: "option", title: shown(token), onclick: () => choose(i),
  }, html("span", { class: "place" }, String(i)), html("bdi", { dir: "auto" }, shown(token))));
  let here = 0;
  const list = html("div", {
    class: "queries", role: "listbox", "aria-label": "query",
    onkeydown: (event) => {
      const to = { Home: 0, End: options.length - 1 }[event.key] ?? here + MOVES[event.key];
      if (Number.isNaN(to) || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      choose(Math.max(0, Math.min(options.length - 1, to)));
      options[here].focus({ preventScroll: true });
    },
  }, ...options);
  const mark = (chosen) => {
    here = chosen;
    options.forEach((option, i) => {
      option.setAttribute("aria-selected", i === chosen);
      option.tabIndex = i === chosen ? 0 : -1;
    });
  };
  const reveal = (i) => into(list, options[i].offsetTop, options[i].offsetHeight);
  return { list, mark, reveal };
}

const label = (token) => html("bdi", { dir: "auto", class: "token", title: shown(token) }, shown(token));
const cell = (...content) => html("span", {}, ...content);

// What stands above the keys: the query's token, and the names of the columns.
export function heading(token, divisor) {
  return [label(token), cell(), cell("score"), cell(divisor), cell(), cell("weight")];
}

// One key: its token and its numbers.
export function keyRow(data, now, key, style, chosen) {
  const score = number(now.scores[key]), open = now.open[key];
  return html("div", { class: `row${key === chosen ? " chosen" : ""}${open ? "" : " hidden"}`, style },
    label(data.keys[key]), cell(), cell(open ? score : html("s", {}, score)),
    cell(open ? number(now.scaled[key]) : "hidden"), cell(), cell(open ? now.weights[key].toFixed(2) : "0"));
}

// The chosen query and key, in a sentence; and the chosen dimension, if there is one.
export function told(data, now, { query, key, layer, dimension }) {
  const asks = named(data.queries[query]), answers = named(data.keys[key]);
  const sum = `${asks} asks, ${answers} answers: ${now.width} products sum to the score ${number(now.scores[key])}`;
  const closed = now.open.some(Boolean) ? `${asks} may not attend to ${answers}, so its weight is 0.`
    : `${asks} may attend to nothing, so all weights are 0.`;
  const weight = `${data.divisors[layer]} that is ${number(now.scaled[key])}, and after the softmax ${answers} has `
    + `the weight ${now.weights[key].toFixed(3)}.`;
  return `${sum}; ${now.open[key] ? weight : closed}${dimension === null ? "" : ` ${adds(data, now, key, dimension)}`}`;
}

export function adds(data, now, key, dimension) {
  const at = key * now.width + dimension, product = now.products[at], more = beyond(now, key, dimension);
  const takes = product < 0, what = takes ? `takes ${number(-product)} from` : `adds ${number(product)} to`;
  const factors = `${number(now.q[dimension])} × ${number(now.k[at])}`;
  const compared = `${number(Math.abs(more))} ${(more < 0) === takes ? "more" : "less"}`;
  return `Dimension ${dimension} ${what} the score of ${named(data.keys[key])} (${factors}), ${compared} than `
    + `${takes ? "from" : "to"} the average key.`;
}

// Which side of a line, and which colour, is which sign.
export function signs() {
  const sample = (name, y) => svg("svg", { viewBox: "0 0 18 18", "aria-hidden": "true" },
    svg("rect", { class: name, x: 3, y, width: 12, height: 8 }), svg("path", { class: "line", d: "M0,9 H18" }));
  return html("p", { class: "signs" }, sample("positive", 1), "above a line: positive", sample("negative", 9),
    "below it: negative");
}

// Which keys are in sight, where not all are.
export function inSight(offset, { row, height }, nKeys) {
  const first = Math.round(offset / row), last = Math.min(nKeys, first + Math.floor(height / row));
  return last - first >= nKeys ? "" : `${nKeys} keys: ${first} to ${last - 1} are in sight, scroll for the others.`;
}

// The same numbers as a table.
export function content(data, now, { query, layer, head }) {
  return {
    caption: `Query ${named(data.queries[query])}, layer ${layer}, head ${head}`,
    head: ["key", "score", data.divisors[layer], "weight"],
    rows: now ? data.keys.map((token, i) => [shown(token), number(now.scores[i]) + (now.open[i] ? "" : " (hidden)"),
      now.open[i] ? number(now.scaled[i]) : "–", now.weights[i].toFixed(4)]) : [],
  };
}
