import { follow, frame, html, put, short, shown, svg, table, text, toggle } from "./kit.js";

const ROW = 28, LONG = 520, ROOM = 24; // pixels of a line and of a cosine of 1; letters of a word
const FIELDS = [["word", "word"], ["minus", "− minus"], ["plus", "+ plus"]];
const NOTE = "Try this: let the words of the question in, and see which word the sum really is nearest to. Then ask for a "
  + "word that has two meanings. A bar is as long as the cosine of the angle between two vectors.";

function rowsOf(data) {
  return data.rows.map((row) => {
    const whole = Int8Array.from(atob(row), (letter) => letter.charCodeAt(0));
    const length = Math.hypot(...whole) || 1;
    return Float64Array.from(whole, (number) => number / length);
  });
}

const dot = (a, b) => a.reduce((sum, number, i) => sum + number * b[i], 0);

function render({ model, el }) {
  const data = model.get("payload"), unit = rowsOf(data), places = new Map(data.words.map((word, i) => [word, i]));
  const root = frame(el, "vector-explorer", "Neighbours and analogies of words", () => false);
  const fields = FIELDS.map(([trait, name]) => {
    const input = html("input", { type: "text", maxlength: data.most, spellcheck: "false", autocapitalize: "off", dir: "auto",
      oninput: () => put(model, trait, input.value.trim()) });
    return { trait, input, row: html("label", {}, html("span", {}, name), input) };
  });
  const leaveOut = toggle("leave out the words of the question", (on) => put(model, "exclude", on));
  const ask = (query) => fields.forEach(({ trait }, i) => put(model, trait, query[i]));
  const sum = ([word, minus, plus]) => [shown(word), ...(minus ? [`− ${shown(minus)}`] : []), ...(plus ? [`+ ${shown(plus)}`] : [])].join(" ");
  const examples = data.examples.map((query) => html("button", { type: "button", onclick: () => ask(query) },
    html("bdi", {}, short(sum(query), 2 * ROOM))));
  const picture = svg("svg", { viewBox: `0 0 860 ${ROW * data.nearest + 6}`, role: "img",
    "aria-label": "nearest words; the table below has the numbers" });
  const said = html("p", { "aria-live": "polite", class: "told" });
  let found = [];
  const numbers = table("The nearest words as a table", () => ({
    caption: `Nearest to ${sum(FIELDS.map(([trait]) => model.get(trait)))}`, head: ["word", "cosine"],
    rows: found.map(([word, cosine]) => [shown(word), cosine.toFixed(2)]),
  }));
  root.append(html("div", { class: "asked" }, ...fields.map(({ row }) => row), leaveOut.button),
    html("div", { class: "choices", role: "group", "aria-label": "examples" }, html("span", {}, "examples"), ...examples),
    picture, said, numbers.fold, html("p", { class: "note" }, NOTE));

  function nearest(query) {
    const asked = query.map((word, i) => [word, i === 1 ? -1 : 1]).filter(([word], i) => word || i === 0);
    const unknown = asked.find(([word]) => !places.has(word));
    if (unknown) return { unknown: unknown[0] };
    const total = unit[0].map((_, k) => asked.reduce((all, [word, sign]) => all + sign * unit[places.get(word)][k], 0));
    const length = Math.hypot(...total) || 1, out = new Set(model.get("exclude") ? asked.map(([word]) => word) : []);
    const all = data.words.map((word, i) => [word, dot(unit[i], total) / length]).filter(([word]) => !out.has(word));
    return { best: all.sort((a, b) => b[1] - a[1]).slice(0, data.nearest) };
  }

  return follow(model, ["word", "minus", "plus", "exclude"], root, () => {
    const query = FIELDS.map(([trait]) => model.get(trait));
    fields.forEach(({ input }, i) => { if (input.value.trim() !== query[i]) input.value = query[i]; });
    leaveOut.mark(model.get("exclude"));
    const { unknown, best } = nearest(query);
    found = best ?? [];
    picture.replaceChildren(...found.map(([word, cosine], i) => svg("g", {},
      text(222, ROW * i + 20, short(word, ROOM), { class: "end" }),
      svg("rect", { class: "bar", x: 232, y: ROW * i + 5, width: LONG * Math.max(cosine, 0), height: ROW - 9 }),
      text(240 + LONG * Math.max(cosine, 0), ROW * i + 20, cosine.toFixed(2).replace("-", "−"), {}))));
    said.textContent = best ? `Nearest to ${sum(query)}: ${found.map(([word]) => shown(word)).slice(0, 3).join(", ")}.`
      : `${shown(unknown)} has no vector here.`;
    examples.forEach((button, i) => button.setAttribute("aria-pressed", data.examples[i].every((word, k) => word === query[k])));
    numbers.draw();
  });
}

export default { render };
