import { choices, follow, frame, html, onTheme, put, shown, table } from "./kit.js";
import { COLUMN, TOKEN, draw, layout } from "./input_drawing.js";

// What stands at the left of each row, and in words below it.
const ROWS = {
  tokens: ["token", ""], ids: ["id", ""],
  token: ["token embedding", "row of its id"],
  segment: ["+ segment embedding", "one for each sentence"],
  position: ["+ position embedding", "one for each place"],
  sum: ["= sum", "as wide as each of them"],
  norm: ["layer norm", "what layer 1 is given"],
};
const SHORT = { token: "Token", segment: "Segment", position: "Position" }; // of steps
const SIGNS = { token: "token", segment: "+ segment", position: "+ position", sum: "= sum", norm: "layer norm" };

// The tokens, one of them chosen: arrow keys move through them.
function tokenRow(data, choose) {
  let here = 0;
  const buttons = data.tokens.map((token, i) => html("button", {
    type: "button", class: "token", title: shown(token), onclick: () => choose(i),
    style: `left: ${i * COLUMN}px; width: ${COLUMN}px; height: ${TOKEN}px`,
  }, html("bdi", { dir: "auto" }, shown(token))));
  const row = html("div", {
    class: "tokens", role: "group", "aria-label": "token",
    onkeydown: (event) => {
      const to = { Home: 0, End: buttons.length - 1 }[event.key] ?? here + { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (Number.isNaN(to) || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      choose(Math.max(0, Math.min(buttons.length - 1, to)));
      buttons[here].focus({ preventScroll: true });
    },
  }, ...buttons);
  const mark = (chosen) => {
    here = chosen;
    buttons.forEach((button, i) => {
      button.setAttribute("aria-pressed", i === chosen);
      button.tabIndex = i === chosen ? 0 : -1;
    });
  };
  return { row, mark };
}

// The names of the rows, level with them; the present one is marked.
function names(data, places, now, reached) {
  return places.rows.map(({ kind, y, tall }) => html("div", {
    class: `name${kind === now ? " now" : ""}${reached.has(kind) ? "" : " later"}`,
    style: `top: ${y}px; height: ${tall}px`,
  }, html("span", {}, ROWS[kind][0]), ROWS[kind][1] ? html("small", {}, ROWS[kind][1]) : ""));
}

// The addition of the chosen token, written out as far as it has come.
function addition(data, position, now, reached) {
  const count = data.numbers.sum[position].length, more = data.width > count ? ["…"] : [];
  const cells = (kind) => [...data.numbers[kind][position], ...more]
    .map((value) => html("td", {}, reached.has(kind) ? value : ""));
  const rows = Object.keys(data.numbers).map((kind) => html("tr", { class: `${kind}${kind === now ? " now" : ""}` },
    html("th", { scope: "row" }, SIGNS[kind]), ...cells(kind)));
  const heads = ["number", ...Array(count).keys(), ...more].map((name) => html("th", { scope: "col" }, String(name)));
  const token = html("bdi", { dir: "auto" }, shown(data.tokens[position]));
  const caption = html("caption", {}, "Numbers of “", token, `” at position ${position}`);
  return html("table", { class: "addition" }, caption,
    html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...rows));
}

function content(data) {
  const kinds = Object.keys(data.numbers), id = (i) => (data.ids ? [String(data.ids[i])] : []);
  return {
    caption: "The first number of each vector",
    head: ["position", "token", ...(data.ids ? ["id"] : []), "sentence", ...kinds.map((kind) => SIGNS[kind])],
    rows: data.tokens.map((token, i) => [String(i), shown(token), ...id(i), data.letters[i],
      ...kinds.map((kind) => data.numbers[kind][i][0])]),
  };
}

function render({ model, el }) {
  const data = model.get("payload"), last = data.steps.length - 1, places = layout(data, Object.keys(data.cells));
  const go = (to) => put(model, "step", Math.max(0, Math.min(last, to)));
  const choose = (to) => put(model, "position", Math.max(0, Math.min(data.tokens.length - 1, to)));
  const keys = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }, turns = { PageUp: -1, PageDown: 1 };
  const root = frame(el, "input-flow", "BERT's input; arrow keys step through it, page keys choose a token", (key) => {
    if (key in turns) choose(model.get("position") + turns[key]);
    else if (key in keys) go(model.get("step") + keys[key]);
    else return false;
    return true;
  });
  const back = html("button", { type: "button", onclick: () => go(model.get("step") - 1) }, "◀ Back");
  const next = html("button", { type: "button", onclick: () => go(model.get("step") + 1) }, "Next ▶");
  const slider = html("input", {
    type: "range", min: 0, max: last, step: 1, "aria-label": "step", oninput: () => go(Number(slider.value)),
  });
  const steps = choices("step", data.steps.map(([kind, name], i) => `${i + 1} ${SHORT[kind] ?? name}`), go);
  const tokens = tokenRow(data, choose), canvas = html("canvas", { role: "img" });
  const size = `width: ${data.tokens.length * COLUMN}px; height: ${places.height}px`;
  const wide = html("div", { class: "wide", style: size }, canvas, tokens.row);
  const box = html("div", { class: "columns", onscroll: later, onclick: pick }, wide);
  const side = html("div", { class: "names", style: `height: ${places.height}px` });
  const told = html("div", { class: "said", "aria-live": "polite" }), sums = html("div", { class: "sums" });
  const fold = table("All tokens as a table", () => content(data));
  root.append(html("div", { class: "controls" }, back, next, slider), steps.row,
    html("div", { class: "sheet" }, side, box), told, sums, fold.fold, html("p", { class: "note" }, data.note));

  let waits = 0, reached = new Set();
  function later() {
    waits ||= requestAnimationFrame(() => { waits = 0; paint(); });
  }
  function paint() {
    const offset = box.scrollLeft, width = Math.min(box.clientWidth, data.tokens.length * COLUMN);
    draw(root, canvas, data, places, { offset, width, reached, position: model.get("position") });
  }
  function pick(event) {
    choose(Math.floor((event.clientX - wide.getBoundingClientRect().left) / COLUMN));
  }

  function update() {
    const step = model.get("step"), position = model.get("position"), [kind, name] = data.steps[step];
    reached = new Set(data.steps.slice(0, step + 1).map(([each]) => each));
    slider.value = step;
    slider.setAttribute("aria-valuetext", `step ${step + 1}: ${name}`);
    back.disabled = step === 0;
    next.disabled = step === last;
    steps.mark(step);
    tokens.mark(position);
    const [formula, words] = data.told[position][step];
    told.replaceChildren(html("p", {}, html("strong", {}, `${step + 1} · ${name}`)),
      html("p", { class: "formula" }, formula), html("p", {}, words));
    canvas.setAttribute("aria-label", `${name}. ${words}`);
    side.replaceChildren(...names(data, places, kind, reached));
    sums.replaceChildren(addition(data, position, kind, reached));
    fold.draw();
    const left = position * COLUMN;
    if (left < box.scrollLeft) box.scrollLeft = left;
    else if (left + COLUMN > box.scrollLeft + box.clientWidth) box.scrollLeft = left + COLUMN - box.clientWidth;
    later();
  }

  const watch = new ResizeObserver(later);
  watch.observe(box);
  const unfollow = follow(model, ["step", "position"], root, update), untheme = onTheme(root, later);
  return () => {
    cancelAnimationFrame(waits);
    watch.disconnect();
    untheme();
    unfollow();
  };
}

export default { render };
