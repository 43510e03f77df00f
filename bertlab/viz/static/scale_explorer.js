import { label, plot } from "./curves.js";
import { follow, frame, html, put, slider, svg, table, text } from "./kit.js";

const ARMS = [["plain", 0], ["divided", 440]], ROW = 23, BARS = 128, LONG = 230, FURTHEST = 75;
const NOTE = "Try this: move dₖ up. Undivided, the scores spread like √dₖ, and one key takes all; divided by √dₖ, they "
  + "do not, and the softmax stays undecided. Another query shows the same. Parts of q and k are drawn with variance 1. "
  + "Numbers are rounded.";
const round = (value, digits = 3) => label(Number(value.toPrecision(digits)));

function render({ model, el }) {
  const data = model.get("payload"), { widths, keys, queries, most } = data, all = [...Array(keys).keys()];
  const root = frame(el, "scale-explorer", "Scores with and without division by the root of the width", () => false);
  const go = (place) => put(model, "place", place);
  const width = slider("dₖ", widths.length - 1, (place) => String(widths[place]), go);
  const next = () => put(model, "draw", (model.get("draw") + 1) % queries);
  const another = html("button", { type: "button", onclick: next }, "Another query");
  const where = html("output", {});
  const picture = svg("svg", { viewBox: `0 0 860 ${104 + ROW * keys + 218}`, role: "img",
    "aria-label": "weights of both softmaxes, and the mean entropy at every width; the table below has the numbers" });
  const said = html("p", { "aria-live": "polite", class: "told" });
  const numbers = table("All widths as a table", () => ({
    caption: `Over ${queries} queries of ${keys} keys: standard deviation of the scores, and mean entropy in bits`,
    head: ["dₖ", "√dₖ", "deviation of q·k", "of q·k ÷ √dₖ", "entropy of q·k", "of q·k ÷ √dₖ"],
    rows: widths.map((d, i) => [String(d), round(Math.sqrt(d)), ...["deviation", "mean_entropy"].flatMap((name) => (
      ARMS.map(([arm]) => data[arm][name][i].toFixed(2))))]),
  }));
  root.append(html("div", { class: "controls" }, width.row, another, where), picture, said, numbers.fold,
    html("p", { class: "note" }, NOTE));

  const spread = (value) => value.toFixed(2), bits = (value) => `entropy ${value.toFixed(2)} of ${round(most)} bits`;

  function half([name, left], place, draw) {
    const arm = data[name], d = widths[place], root = round(Math.sqrt(d));
    const title = name === "plain" ? "q·k" : `q·k ÷ √${d}`, wanted = name === "plain" ? `√${d} = ${root}` : "1";
    const middle = left + 210, spot = (score) => middle + (200 * score) / FURTHEST;
    const strip = svg("g", { class: "strip" },
      svg("path", { class: "line", d: `M${left + 10},70 H${left + 410} M${middle},64 V76` }),
      ...[-50, 50].map((at) => text(spot(at), 90, label(at), { class: "small middle faint" })),
      ...arm.scores[place][draw].map((score) => svg("circle", { class: name, cx: spot(score), cy: 70, r: 5 })));
    const rows = all.map((i) => {
      const y = 102 + ROW * i, weight = arm.weights[place][draw][i], score = arm.scores[place][draw][i];
      return svg("g", {}, text(left + 48, y + 15, `key ${i + 1}`, { class: "end" }),
        text(left + BARS - 12, y + 15, score.toFixed(1).replace("-", "−"), { class: "end score" }),
        svg("rect", { class: name, x: left + BARS, y: y + 2, width: LONG * weight, height: ROW - 6 }),
        text(left + BARS + 6 + LONG * weight, y + 15, weight.toFixed(2), { class: "weight" }));
    });
    const [one, every] = [arm.deviations[place][draw], arm.deviation[place]].map(spread);
    return svg("g", {}, text(left, 16, title, { class: "strong" }),
      text(left, 36, `standard deviation ${one}; all queries ${every}`),
      text(left, 53, `expected ${wanted}`, {}), strip, ...rows,
      text(left + BARS, 102 + ROW * keys + 14, bits(arm.entropies[place][draw]), { class: "strong" }));
  }

  function curve(place, draw) {
    const steps = widths.map((_, i) => i), top = 104 + ROW * keys + 52;
    const axes = plot({ left: 62, top, width: 660, height: 118 }, [0, widths.length - 1], [0, most],
      { title: `mean entropy over ${queries} queries`, x: "dₖ", y: "bits" },
      { xTicks: steps, xLabels: widths.map(String) });
    const lines = ARMS.flatMap(([name]) => {
      const mean = data[name].mean_entropy;
      return [axes.line(steps, mean, { class: `curve ${name}` }),
        text(730, axes.y(mean.at(-1)) + 5, name === "plain" ? "q·k" : "q·k ÷ √dₖ", {}),
        svg("circle", { class: `${name} now`, cx: axes.x(place), cy: axes.y(data[name].entropies[place][draw]), r: 5 })];
    });
    return svg("g", {}, axes.node, axes.upright(place), ...lines,
      text(axes.x(place) + (place > 7 ? -9 : 9), top + 8, "○ this query", { class: place > 7 ? "small end" : "small" }));
  }

  return follow(model, ["place", "draw"], root, () => {
    const place = model.get("place"), draw = model.get("draw");
    width.mark(place);
    where.textContent = `query ${draw + 1} of ${queries}`;
    picture.replaceChildren(...ARMS.map((arm) => half(arm, place, draw)), curve(place, draw));
    const told = ARMS.map(([name]) => {
      const weight = Math.max(...data[name].weights[place][draw]), left = data[name].entropies[place][draw];
      return `${weight.toFixed(2)} (entropy ${left.toFixed(2)} bits)`;
    });
    said.textContent = `Width ${widths[place]}: the largest weight is ${told[0]} undivided, ${told[1]} divided by ${
      round(Math.sqrt(widths[place]))}.`;
    numbers.draw();
  });
}

export default { render };
