import { frame, html, ink, onTheme, sharp, shown, table } from "./kit.js";
import { chunkName, headSource } from "./weights.js";
import { between, bothColumns, hiddenRows, mean, rowsWith, sums } from "./head_numbers.js";
import { captionSaid, focusSaid, hiddenSaid, linesSaid, noteSaid, nothingSaid } from "./head_words.js";
import { numberSaid, numbersSaid, sightSaid } from "./head_words.js";
import { controls } from "./head_controls.js";
import { drawLines, drawNothing, drawStrips, inSight, placeOf, ROW } from "./line_canvas.js";
import { onDemand } from "./on_demand.js";
import { tokenColumn } from "./token_columns.js";

const TRAITS = ["set_number", "layer", "heads", "queries", "looked_at", "threshold", "top_k", "merge_words",
  "hide_special", "sentences"];
const SIDES = ["queries", "looked_at"]; // the traits that hold what is chosen on the left, and on the right
const TALLEST = 560; // pixels of the box with both columns

function render({ model, el }) {
  const data = model.get("payload"), source = headSource(model), weightsOf = onDemand(source, () => schedule(true));
  let rows = [[], []], rowsFor = ""; // both columns, and for what they were made
  let weights = new Map(), loaded = false; // between these rows, of the heads that are on
  let made = new Map(), madeFor = ""; // the same of all heads that were on before, and for what they were made
  let pointed = null, walked = null; // what the pointer, or the keyboard, is at: { side, rows }
  let byPointer = false; // whether what is seen changed last because the pointer moved: that is not read aloud
  let frameAsked = 0, all = false, closed = false;

  // ---- what is chosen at present, such that it fits together: Python may change one thing before another
  function now() {
    const chosen = Object.fromEntries(TRAITS.map((trait) => [trait, model.get(trait)]));
    const set = data.sets[chosen.set_number], layer = Math.min(chosen.layer, set.heads.length - 1);
    const here = set.heads[layer];
    const every = Array.from({ length: data.most_heads }, (_, head) => head);
    return { ...chosen, set, layer, here, every, on: chosen.heads.filter((head) => head < here) };
  }

  function change(values) {
    for (const [trait, value] of Object.entries(values)) model.set(trait, value);
    model.save_changes();
  }

  // A click: all tokens of the row are chosen, or none any more. Only one side has any.
  function choose(side, row) {
    const positions = rows[side][row].positions, chosen = new Set(model.get(SIDES[side]));
    const has = positions.some((position) => chosen.has(position));
    for (const position of positions) chosen[has ? "delete" : "add"](position);
    pointed = walked = null;
    change({ [SIDES[side]]: [...chosen].sort((a, b) => a - b), [SIDES[1 - side]]: [] });
  }

  function fixed() {
    const found = SIDES.map((trait, side) => ({ side, rows: rowsWith(rows[side], model.get(trait)) }));
    return found.find((focus) => focus.rows.length) ?? null;
  }

  const namesOf = (focus) => focus.rows.map((row) => rows[focus.side][row].said);

  // Head by head, what those in focus give to each row of the other column, or get from it; and the heads' mean.
  function summed(focus) {
    const n = rows[1 - focus.side].length;
    const byHead = new Map([...weights].map(([head, values]) => [head, sums(values, rows[1].length, focus, n)]));
    return { byHead, means: mean([...byHead.values()], n) };
  }

  function tabulated() {
    const focus = walked ?? fixed();
    if (!focus || !loaded) {
      return { caption: "Fix a token, or go to one by the arrow keys, to read its weights here.", head: [], rows: [] };
    }
    const { byHead, means } = summed(focus), lists = [...byHead.values(), means], state = now();
    const named = [...[...byHead.keys()].map((head) => `head ${head}`), numberSaid(state, focus.rows.length, true)];
    return {
      caption: captionSaid(state, focus.side, namesOf(focus)),
      head: [focus.side ? "looks" : "is looked at", ...named],
      rows: rows[1 - focus.side].map((row, i) => [shown(row.name), ...lists.map((list) => list[i].toFixed(3))]),
    };
  }

  // ---- the elements
  const root = frame(el, "head-view", "Head view: lines from tokens that look to tokens looked at", (key) => {
    if (key !== "Escape" || !(pointed || walked || fixed())) return false;
    pointed = walked = null;
    byPointer = false;
    change({ queries: [], looked_at: [] });
    schedule(true);
    return true;
  });
  const choosers = controls(data, change, now);
  const at = (side, row) => (row === null ? null : { side, rows: [row] });
  const lists = ["tokens that look", "tokens looked at"].map((label, side) => tokenColumn(label, {
    point: (row) => { pointed = at(side, row); byPointer = true; schedule(false); },
    walk: (row) => {
      walked = at(side, row);
      if (row !== null) [pointed, byPointer] = [null, false];
      show(row);
      schedule(true);
    },
    choose: (row) => choose(side, row),
    cross: (row) => lists[1 - side].walk(row),
  }));
  const captions = [0, 1].map(() => html("small", {})), sum = html("span", {});
  const headings = html("div", { class: "headings" }, html("div", {}, "looks (query)"),
    html("div", { class: "between" }, captions[0], sum, captions[1]), html("div", {}, "is looked at (key)"));
  const columns = html("div", { class: "columns" }, lists[0].list, lists[1].list);
  const box = html("div", { class: "box", onscroll: () => schedule(false) }, columns);
  const canvas = html("canvas", { role: "img" });
  const live = html("p", { class: "now", "aria-live": "polite" }), note = html("p", { class: "note" });
  const numbers = table("Weights as a table", tabulated);
  root.append(...choosers.rows, headings, html("div", { class: "over" }, box, canvas), live, note, numbers.fold);

  // The keyboard's token comes into sight.
  function show(row) {
    const top = row * ROW;
    if (row === null) return;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
  }

  // Over the strips: which cells are which heads.
  function captionOf(state, n, side) {
    const last = html("span", {}, String(state.here - 1)), number = numberSaid(state, n);
    const heads = html("span", { class: "strip" }, html("span", {}, "0"), "heads", last);
    return side ? [`${number} `, heads] : [heads, ` ${number}`];
  }

  // ---- drawing: all of it after a change, the canvas alone while the pointer moves or the box scrolls
  function schedule(everything) {
    if (closed) return;
    all ||= everything;
    frameAsked ||= requestAnimationFrame(() => {
      frameAsked = 0;
      if (all) draw();
      else {
        paint();
        say();
      }
    });
  }

  function draw() {
    all = false;
    const state = now(), { set, on } = state;
    const columnsFor = [state.set_number, state.merge_words, state.hide_special, state.sentences].join();
    if (columnsFor !== rowsFor) {
      rowsFor = columnsFor;
      rows = bothColumns(set, state);
      pointed = walked = null;
      lists.forEach((column, side) => column.fill(rows[side], set.sentence_b !== null));
      box.style.height = `${Math.min(TALLEST, Math.max(ROW, ROW * rows[0].length, ROW * rows[1].length))}px`;
    }
    choosers.mark();
    const chosen = fixed();
    lists.forEach((column, side) => column.mark(chosen?.side === side ? chosen.rows : []));
    const needed = on.map((head) => chunkName(state.set_number, state.layer, head));
    const key = [columnsFor, state.layer, state.top_k].join();
    if (key !== madeFor) [made, madeFor] = [new Map(), key];
    loaded = weightsOf.ready(needed);
    if (loaded) {
      const make = (name) => between(source.peek(name), set, rows, state.top_k);
      on.forEach((head, i) => made.has(head) || made.set(head, make(needed[i])));
    }
    weights = new Map(loaded ? on.map((head) => [head, made.get(head)]) : []);
    paint();
    say();
    numbers.draw();
  }

  function say() {
    const state = now(), focus = pointed ?? walked ?? fixed();
    let words = nothingSaid(state);
    if (!loaded) {
      const failed = weightsOf.failed(), { layer } = state;
      words = failed ? `Layer ${layer} could not be loaded: ${failed.message}` : `loading layer ${layer} …`;
    } else if (focus) words = focusSaid(state, focus.side, namesOf(focus), rows[1 - focus.side], summed(focus).means);
    const hidden = SIDES.map((trait, side) => hiddenSaid(state, side, hiddenOf(state, trait, side)));
    words = [...hidden, words].filter(Boolean).join(" ");
    live.setAttribute("aria-live", byPointer ? "off" : "polite");
    if (live.textContent !== words) live.textContent = words;
  }

  const hiddenOf = (state, trait, side) => (state[trait].length
    ? hiddenRows(state.set, side, rows, state, state[trait]) : []);

  function paint() {
    const width = box.clientWidth, height = box.clientHeight, state = now();
    if (!width || !height) return; // not yet on the page: the observer below will call again
    const place = placeOf(width, height, rows, box.scrollTop, state.here, lists.map((column) => column.width()));
    root.style.setProperty("--strip", `${place.strip}px`);
    columns.style.gridTemplateColumns = headings.style.gridTemplateColumns = place.template;
    lists.forEach((column, side) => column.list.classList.toggle("stays", place.stays[side]));
    box.classList.toggle("cut", !place.whole);
    const pen = sharp(canvas, width, height), look = { colours: data.colours, ...ink(root) };
    const focus = pointed ?? walked ?? fixed(), seen = inSight(place, rows), { here: nHeads, threshold } = state;
    const lines = drawLines(pen, place, { weights, rows, seen, focus, nHeads, threshold }, look);
    const beside = focus && loaded ? 1 - focus.side : null; // the column that gets strips
    if (focus && loaded) {
      drawStrips(pen, place, beside, { ...summed(focus), seen: seen[beside], n: focus.rows.length }, look);
    }
    if (loaded && state.on.length && !lines.count) drawNothing(pen, place, focus, lines.most, threshold, look);
    captions.forEach((caption, side) => caption.replaceChildren(
      ...(beside === side ? captionOf(state, focus.rows.length, side) : [])));
    const waits = weightsOf.failed() ? "not loaded" : "loading …";
    sum.textContent = !loaded ? waits : focus ? numbersSaid(state, namesOf(focus)) : "";
    canvas.setAttribute("aria-label", `${linesSaid(lines.drawn)} between the two columns`);
    const sight = sightSaid(state.set, rows, seen);
    note.textContent = noteSaid(state, data, lines, { sight, focused: focus, loaded });
  }

  for (const trait of TRAITS) model.on(`change:${trait}`, changed);
  function changed() {
    byPointer = false;
    schedule(true);
  }
  const size = new ResizeObserver(() => schedule(false));
  size.observe(box);
  const untheme = onTheme(root, () => schedule(false));
  draw();
  return () => {
    for (const trait of TRAITS) model.off(`change:${trait}`, changed);
    size.disconnect();
    untheme();
    weightsOf.close();
    source.close();
    cancelAnimationFrame(frameAsked);
    closed = true;
    root.remove();
  };
}

export default { render };
