import { greedyPieces, idsOf } from "./greedy_pieces.js";
import { follow, frame, html, put, short, shown, table } from "./kit.js";

const MOST_TRIES = 40, ROOM = 40; // of a word, in the table; letters on a button
const NOTE = "Try this: type a word letter by letter, and see pieces melt into one. Then misspell it. A box is a piece, "
  + "the number below it its id; ## goes on inside a word; a dashed box is a word that could not be cut. "
  + "Special tokens that you type are text like any other.";

const many = (n, name) => `${n} ${name}${n === 1 ? "" : "s"}`;

function render({ model, el }) {
  const data = model.get("payload"), ids = idsOf(data.vocabulary);
  const root = frame(el, "piece-explorer", "A text cut into pieces while you type", () => false);
  const area = html("textarea", { rows: 2, maxlength: data.most, "aria-label": "text to cut", spellcheck: "false", dir: "auto",
    oninput: () => put(model, "text", area.value) });
  const examples = data.examples.map((text) => html("button", { type: "button", title: shown(text),
    onclick: () => put(model, "text", text) }, html("bdi", {}, short(text, ROOM))));
  const sentence = html("div", { class: "words scroll", tabindex: "0", role: "region", "aria-label": "pieces" });
  const said = html("p", { "aria-live": "polite", class: "told" });
  let words = [];
  const asked = table("What was looked up, word by word", () => ({
    caption: "Each word: all that was looked up, the longest first; ✓ is in the vocabulary",
    head: ["word", "pieces", "look-ups", "what was looked up"],
    rows: words.map(({ word, pieces, tries }) => {
      const told = tries.slice(0, MOST_TRIES).map((piece) => shown(piece) + (ids.has(piece) ? " ✓" : ""));
      return [shown(word), String(pieces.length), String(tries.length),
        told.join(", ") + (tries.length > MOST_TRIES ? ", …" : "")];
    }),
  }));
  const examplesRow = html("div", { class: "choices", role: "group", "aria-label": "examples" },
    html("span", {}, "examples"), ...examples);
  root.append(html("div", { class: "typed" }, area), examplesRow, sentence, said, asked.fold, html("p", { class: "note" }, NOTE));

  function box([piece, id, start, end]) {
    const lost = piece === data.unknown;
    const from = `characters ${start} to ${end - 1}`;
    return html("span", { class: lost ? "piece lost" : "piece", title: `${shown(piece)}, id ${id}, ${from}` },
      html("bdi", {}, shown(piece)), html("small", {}, String(id)));
  }

  return follow(model, ["text"], root, () => {
    const text = model.get("text");
    if (area.value !== text) area.value = text;
    words = greedyPieces(text, ids, data.unknown, data.lowercase, data.longest);
    sentence.replaceChildren(...words.map(({ pieces }) => html("span", { class: "word" }, ...pieces.map(box))));
    const pieces = words.flatMap((word) => word.pieces);
    const lost = pieces.filter(([piece]) => piece === data.unknown).length;
    said.textContent = `${many([...text].length, "character")}, ${many(words.length, "word")}, ${
      many(pieces.length, "piece")}, ${lost} of them ${data.unknown}.`;
    examples.forEach((button, i) => button.setAttribute("aria-pressed", data.examples[i] === text));
    asked.draw();
  });
}

export default { render };
