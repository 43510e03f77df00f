import { choices, follow, frame, html, put, shown, short, svg, text } from "./kit.js";

const ROW = 30, BARS = 210, LONG = 540;

function picture(data, place) {
  const rows = data.labels.map((label, i) => {
    const probability = data.probabilities[place][i], y = ROW * i + 6;
    return svg("g", { class: "row" },
      text(124, y + 15, short(label, 14), { class: "end" }), svg("title", {}, shown(label)),
      text(192, y + 15, data.scores[i], { class: "end" }),
      svg("rect", { class: "bar", x: BARS, y, width: LONG * probability, height: 20 }),
      text(BARS + 8 + LONG * probability, y + 15, probability.toFixed(3), { class: "probability" }));
  });
  return svg("svg", { viewBox: `0 0 860 ${ROW * rows.length + 6}`, role: "img",
    "aria-label": data.labels.map((label, i) => `${shown(label)} ${data.probabilities[place][i].toFixed(3)}`).join(", "),
  }, ...rows);
}

function render({ model, el }) {
  const data = model.get("payload"), last = data.temperatures.length - 1;
  const go = (to) => put(model, "place", Math.max(0, Math.min(last, to)));
  const keys = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
  const root = frame(el, "softmax-temperature", "Softmax at a temperature; arrow keys change it", (key) => {
    if (!(key in keys)) return false;
    go(model.get("place") + keys[key]);
    return true;
  });
  const slider = html("input", {
    type: "range", min: 0, max: last, step: 1, "aria-label": "scores divided by", oninput: () => go(Number(slider.value)),
  });
  const marks = choices("go to", data.marks.map(([name]) => name), (i) => go(data.marks[i][1]));
  const where = html("output", {}), view = html("div", {}), caption = html("p", { "aria-live": "polite" });
  root.append(html("div", { class: "controls" }, where, html("span", {}, "sharper"), slider, html("span", {}, "flatter")),
    marks.row, view, caption);
  return follow(model, ["place"], root, () => {
    const place = model.get("place");
    slider.value = place;
    slider.setAttribute("aria-valuetext", data.temperatures[place]);
    where.textContent = `scores divided by ${data.temperatures[place]}`;
    marks.mark(data.marks.findIndex(([, at]) => at === place));
    view.replaceChildren(picture(data, place));
    caption.textContent = `entropy ${data.entropies[place]} bits (0: one is certain; ${data.most}: all are equal)`;
  });
}

export default { render };
