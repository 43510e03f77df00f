// What the reader of the head view can choose, beside tokens: `change` takes new values of traits by name, `now` gives
// all that is chosen at present.

import { choices, html, short, slider, toggle } from "./kit.js";

const THRESHOLDS = [0, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9];
const TOP = [0, 1, 2, 3, 5, 10]; // 0: all
const PAIRS = ["all", "AA", "AB", "BA", "BB"];
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

// A numbered chip for each head: click turns it on or off, double click or Shift+Enter shows it alone.
function headChips(colours, change, now) {
  const row = html("div", { class: "chips", role: "toolbar", "aria-label": "heads", onkeydown: pressed });
  const all = html("button", { type: "button", onclick: () => change({ heads: now().every }) }, "all");
  const none = html("button", { type: "button", onclick: () => change({ heads: [] }) }, "none");
  let chips = [], current = 0;

  const flip = (head) => {
    const on = new Set(now().heads);
    if (!on.delete(head)) on.add(head);
    change({ heads: [...on].sort((a, b) => a - b) });
  };
  const alone = (head) => {
    const { on, every } = now();
    const already = on.length === 1 && on[0] === head;
    change({ heads: already ? every : [head] });
  };

  function stop(head) {
    chips[current]?.setAttribute("tabindex", "-1");
    current = Math.max(0, Math.min(chips.length - 1, head));
    chips[current]?.setAttribute("tabindex", "0");
  }

  function pressed(event) {
    const head = chips.indexOf(event.target);
    if (head < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key in STEPS) {
      stop(head + STEPS[event.key]);
      chips[current].focus();
    } else if (event.key === "Enter" && event.shiftKey) alone(head);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const chip = (head) => html("button", {
    type: "button", class: "head", style: `--head: ${colours[head % colours.length]}`, tabindex: "-1",
    "data-round": Math.min(2, Math.floor(head / colours.length)),
    "aria-label": `head ${head}`, title: `head ${head}: click turns it on or off, double click shows it alone`,
    onclick: () => { stop(head); flip(head); }, ondblclick: () => alone(head),
  }, String(head));

  function mark() {
    const { on, here } = now();
    if (chips.length !== here) {
      chips = Array.from({ length: here }, (_, head) => chip(head));
      row.replaceChildren(...chips);
      stop(Math.min(current, here - 1));
    }
    chips.forEach((button, head) => button.setAttribute("aria-pressed", on.includes(head)));
  }

  return { row: html("div", { class: "choices" }, html("span", {}, "heads"), row, all, none), mark };
}

export function controls(data, change, now) {
  const sets = choices("show", data.sets.map((set) => short(set.name, 24)), (i) => change({
    set_number: i, layer: Math.min(now().layer, data.sets[i].heads.length - 1), queries: [], looked_at: [],
    sentences: "all",
  }));
  const layers = data.sets.map(({ heads: { length: n } }) => slider("layer", n - 1, (i) => `${i} of 0–${n - 1}`,
    (i) => change({ layer: i })));
  const chips = headChips(data.colours, change, now);
  const pairs = choices("from → to", PAIRS.map((pair) => (pair === "all" ? pair : [...pair].join("→"))),
    (i) => change({ sentences: PAIRS[i] }));
  const words = toggle("merge word pieces", (on) => change({ merge_words: on }));
  const special = toggle("hide special tokens", (on) => change({ hide_special: on }));
  let said = "";
  const threshold = slider("lines from", THRESHOLDS.length - 1, () => said,
    (i) => change({ threshold: THRESHOLDS[i] }));
  const top = choices("strongest per query", TOP.map((k) => (k ? String(k) : "all")),
    (i) => change({ top_k: TOP[i] }));
  const line = (...parts) => html("div", { class: "controls" }, ...parts);
  const rows = [line(...(data.sets.length > 1 ? [sets.row] : []), ...layers.map((one) => one.row)),
    chips.row, line(words.button, special.button, pairs.row), line(top.row, threshold.row)];

  function mark() {
    const { set, ...chosen } = now();
    sets.mark(chosen.set_number);
    layers.forEach((one, i) => {
      one.row.hidden = i !== chosen.set_number || set.heads.length === 1;
      if (i === chosen.set_number) one.mark(chosen.layer);
    });
    chips.mark();
    pairs.row.hidden = set.sentence_b === null;
    pairs.mark(PAIRS.indexOf(chosen.sentences));
    words.button.hidden = ["queries", "keys"].every((side) => set[`${side}_words`].length === set[side].length);
    words.mark(chosen.merge_words);
    special.button.hidden = !set.queries_special.length && !set.keys_special.length;
    special.mark(chosen.hide_special);
    said = `${chosen.threshold} up`;
    threshold.mark(THRESHOLDS.findLastIndex((value) => value <= chosen.threshold));
    top.mark(TOP.indexOf(chosen.top_k));
  }

  return { rows, mark };
}
