import { chunks } from "./chunks.js";
import { choices, follow, frame, html, put, shown, slider } from "./kit.js";
import { kindsOf, nChosen, ranks, readAs } from "./masked_tokens.js";

const KINDS = [["masked", "■", "replaced by [MASK]"], ["random", "⇄", "replaced by a random word"],
  ["unchanged", "=", "unchanged, predicted all the same"]];
const NAMES = 96, LETTER = 8.4; // pixels: names of the rows, a letter
const NOTE = "Try this: raise the rate, and tokens are added, none is taken away; draw again, and the shares settle. "
  + "Chosen are round(rate × tokens that are not special), at least one. BERT’s own code counts [CLS] and [SEP] in "
  + "the length, and stops at a set maximum (Devlin et al. 2019, sec. 3.1, appendix A.1). A random word is never a "
  + "special one, but may by chance be the word itself. Shares are rounded.";
const percent = (part, decimals = 1) => `${(100 * part).toFixed(decimals)} %`;

function render({ model, el }) {
  const data = model.get("payload"), { tokens, free, vocabulary } = data, nFree = free.filter(Boolean).length;
  const root = frame(el, "masking-explorer", "What BERT reads and what it must predict", () => false);
  const ranked = []; // of each draw, once it was needed
  let uniforms = null, asked = 0;

  const rate = slider("rate", data.last_rate, (n) => `${n} %`, (n) => put(model, "rate", n / 100));
  const presets = [["80 / 10 / 10", [0.8, 0.1, 0.1]], ["only [MASK]", [1, 0, 0]]];
  const same = (a, b) => a.every((value, i) => Math.abs(value - b[i]) < 1e-9);
  const own = model.get("shares");
  const ownName = own.map((n) => +(100 * n).toFixed(1)).join(" / ");
  if (!presets.some(([, some]) => same(some, own))) presets.push([ownName, [...own]]);
  const shares = choices("shares", presets.map(([name]) => name), (i) => put(model, "shares", [...presets[i][1]]));
  const go = (to) => put(model, "draw", Math.max(0, Math.min(data.draws - 1, to)));
  const button = (name, to) => html("button", { type: "button", onclick: () => go(to()) }, name);
  const again = button("Draw again", () => model.get("draw") + 1), more = button("20 more", () => model.get("draw") + 20);
  const first = button("First draw", () => 0), where = html("output", {});
  const sentence = html("div", { class: "sentence scroll", tabindex: "0", role: "region", "aria-label": "sentence" },
    "loading …");
  const counted = html("div", { class: "table" });
  const said = html("p", { "aria-live": "polite", class: "told" });
  const legend = html("p", { class: "legend" }, ...KINDS.map(([kind, sign, name]) => (
    html("span", {}, html("span", { class: `mark ${kind}`, "aria-hidden": "true" }, sign), ` ${name}`))));
  root.append(html("div", { class: "controls" }, rate.row, shares.row),
    html("div", { class: "controls" }, again, more, first, where),
    sentence, legend, said, counted, html("p", { class: "note" }, NOTE));

  // Columns keep their width from draw to draw, so that the eye can follow; a longer word ends in dots.
  const letters = Math.max(6, Math.min(12, Math.max(...tokens.map((token) => [...shown(token)].length))));
  const wide = Math.round(letters * LETTER) + 40;
  const word = (token, more) => html("bdi", { dir: "auto", title: shown(token), ...more }, shown(token));

  function cell(row, i, kinds, read) {
    if (row === 0) return word(tokens[i]);
    if (row === 1 && kinds[i] < 0) return word(read[i]);
    if (row === 2 && kinds[i] < 0) return html("span", { class: "no-loss" }, "no loss");
    if (row === 2) return word(tokens[i], { class: "strong" });
    const [kind, sign, name] = KINDS[kinds[i]];
    return html("span", { class: `mark ${kind}` }, html("span", { role: "img", "aria-label": `${name}: ` }, sign), " ",
      word(read[i]));
  }
  function lines(kinds, read) {
    const each = Math.max(1, Math.floor((root.clientWidth - NAMES - 16) / wide)), all = [...tokens.keys()];
    const starts = all.filter((i) => i % each === 0);
    sentence.replaceChildren(...starts.map((start) => {
      const part = all.slice(start, start + each);
      const rows = ["original", "model reads", "must predict"].map((name, row) => html("tr", {},
        html("th", { scope: "row" }, name), ...part.map((i) => html("td", {}, cell(row, i, kinds, read)))));
      const name = `tokens ${start + 1} to ${start + part.length}`;
      const style = `width: ${NAMES + wide * part.length}px`;
      return html("table", { style, "aria-label": name }, html("tbody", {}, ...rows));
    }));
  }

  const chance = (draw) => uniforms.subarray(3 * tokens.length * draw, 3 * tokens.length * (draw + 1));
  const rankOf = (draw) => (ranked[draw] ??= ranks(chance(draw), free));
  function kindsIn(draw) {
    return kindsOf(chance(draw), rankOf(draw), nChosen(model.get("rate"), nFree), model.get("shares"));
  }

  function count(draw, kinds) {
    const now = [0, 1, 2].map((kind) => kinds.filter((one) => one === kind).length), sums = [0, 0, 0];
    for (let i = 0; i <= draw; i++) for (const kind of kindsIn(i)) if (kind >= 0) sums[kind] += 1;
    const chosen = nChosen(model.get("rate"), nFree), total = chosen * (draw + 1), wanted = model.get("shares");
    const part = chosen / nFree, so = draw ? `draws 1 to ${draw + 1}` : "draw 1";
    const both = (n, whole, decimals) => sums.map((sum, k) => (
      `${percent((sum / n) * whole, decimals)} (${percent(wanted[k] * whole, decimals)})`));
    const rows = [["this draw", `${chosen} of ${nFree}`, ...now.map(String)],
      [`of the chosen, ${so}`, "100 %", ...both(total, 1, 0)],
      [`of all but special ones, ${so}`, percent(part), ...both(total, part, 1)]];
    const head = ["chosen", data.mask, "random word", "unchanged"];
    const line = ([name, ...cells]) => html("tr", {}, html("th", { scope: "row" }, name),
      ...cells.map((value) => html("td", {}, value)));
    counted.replaceChildren(html("table", {}, html("caption", {}, "Counted; in brackets what is expected"),
      html("thead", {}, html("tr", {}, html("td", {}), ...head.map((name) => html("th", { scope: "col" }, name)))),
      html("tbody", {}, ...rows.map(line))));
  }

  function draw() {
    asked = 0;
    if (!uniforms) return;
    const at = model.get("draw"), kinds = kindsIn(at);
    lines(kinds, readAs(tokens, chance(at), kinds, vocabulary, data.mask));
    count(at, kinds);
    const chosen = nChosen(model.get("rate"), nFree);
    // The rounded number is the same in every draw: however many there are, they come no closer to the rate.
    const aim = model.get("rate") * nFree;
    const share = `${+(100 * model.get("rate")).toFixed(1)} % of ${nFree} is ${+aim.toFixed(2)}`;
    const why = aim < 0.5 ? `${share}, but at least one is always chosen`
      : Number.isInteger(+aim.toFixed(6)) ? share : `${share}, rounded in every draw alike`;
    said.textContent = `Draw ${at + 1}: ${chosen} of ${nFree} tokens ${chosen === 1 ? "is" : "are"} chosen (${
      percent(chosen / nFree)}; ${why}); the loss is taken over ${chosen === 1 ? "it" : "them"} alone.`;
  }
  const soon = () => { asked ||= requestAnimationFrame(draw); };
  function changed() { // controls at once: the next key goes on from there
    const at = model.get("draw"), now = model.get("shares");
    rate.mark(Math.round(100 * model.get("rate")));
    shares.mark(presets.findIndex(([, some]) => same(some, now)));
    const last = at ? ", the last: “First draw” leads back" : ", the only one";
    const end = at === data.draws - 1 ? last : "";
    where.textContent = `draw ${at + 1} of ${data.draws}${end}`;
    for (const next of [again, more]) next.disabled = at === data.draws - 1;
    first.disabled = at === 0;
    soon();
  }

  const source = chunks(model, (_, [bytes]) => (
    Float32Array.from({ length: bytes.byteLength / 4 }, (_, i) => bytes.getFloat32(4 * i, true))));
  source.load(["uniforms"]).then(([arrived]) => {
    uniforms = arrived;
    if (root.isConnected) draw();
  });
  const sized = new ResizeObserver(soon);
  sized.observe(root);
  const unfollow = follow(model, ["draw", "rate", "shares"], root, changed);
  return () => {
    cancelAnimationFrame(asked);
    sized.disconnect();
    source.close();
    unfollow();
  };
}

export default { render };
