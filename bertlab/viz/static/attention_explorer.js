import { choices, follow, frame, html, put, shown, short, svg, text } from "./kit.js";

const ROW = 24, QUERY = 250, KEY = 470, BARS = 610, LONG = 170;

function picture(data, head, query, choose) {
  const weights = data.weights[head][query], y = (i) => ROW * (i + 0.5) + 26;
  const lines = weights.map((weight, key) => svg("line", {
    class: "flow", x1: QUERY + 12, y1: y(query), x2: KEY - 8, y2: y(key),
    "stroke-opacity": weight < 0.005 ? 0 : 0.15 + 0.85 * weight, "stroke-width": 1 + 6 * weight,
  }));
  const queries = data.tokens.map((token, i) => svg("g", { class: "query", cursor: "pointer", onclick: () => choose(i) },
    svg("rect", { x: QUERY - 145, y: y(i) - 11, width: 154, height: 22, rx: 4, class: i === query ? "marked" : "hit" }),
    text(QUERY, y(i) + 5, short(token, 17), { class: i === query ? "end strong" : "end" }),
    svg("title", {}, shown(token))));
  const keys = data.tokens.map((token, i) => svg("g", { class: "key" },
    text(KEY, y(i) + 5, short(token, 15), {}), svg("title", {}, shown(token)),
    svg("rect", { class: "bar", x: BARS, y: y(i) - 8, width: LONG * weights[i], height: 16 }),
    text(BARS + 6 + LONG * weights[i], y(i) + 5, weights[i].toFixed(3), { class: "weight" })));
  return svg("svg", { viewBox: `0 0 860 ${ROW * data.tokens.length + 32}`, role: "img",
    "aria-label": data.tokens.map((token, i) => `${shown(token)} ${weights[i].toFixed(3)}`).join(", "),
  }, text(QUERY, 16, "query ↓", { class: "end" }), text(KEY, 16, "key", {}), text(BARS, 16, "weight", {}),
  ...lines, ...queries, ...keys);
}

function render({ model, el }) {
  const data = model.get("payload"), heads = data.weights.length, tokens = data.tokens.length;
  const clip = (value, size) => Math.max(0, Math.min(size - 1, value));
  const choose = (query) => put(model, "query", clip(query, tokens));
  const pick = (head) => put(model, "head", clip(head, heads));
  const keys = {
    ArrowUp: () => choose(model.get("query") - 1), ArrowDown: () => choose(model.get("query") + 1),
    ArrowLeft: () => pick(model.get("head") - 1), ArrowRight: () => pick(model.get("head") + 1),
    Home: () => choose(0), End: () => choose(tokens - 1),
  };
  const root = frame(el, "attention-explorer", "Attention: up and down choose the query, left and right the head", (key) => {
    keys[key]?.();
    return key in keys;
  });
  const row = choices("head", data.weights.map((_, i) => `${i}`), pick);
  const view = html("div", {}), caption = html("p", { "aria-live": "polite" });
  root.append(row.row, view, caption);
  return follow(model, ["head", "query"], root, () => {
    const head = model.get("head"), query = model.get("query"), weights = data.weights[head][query];
    row.mark(head);
    view.replaceChildren(picture(data, head, query, choose));
    const most = weights.indexOf(Math.max(...weights));
    caption.textContent = `head ${head}: “${shown(data.tokens[query])}” looks most at “${shown(data.tokens[most])}” `
      + `(position ${most}), with weight ${weights[most].toFixed(3)}`;
  });
}

export default { render };
