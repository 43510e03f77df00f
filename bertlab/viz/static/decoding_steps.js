import { cells, choices, follow, frame, html, put, shown, short, svg, text } from "./kit.js";

// Seven steps a word. Each step shows what it computes and keeps what the steps before it have computed.
const [START, STATE, SCORES, SOFTMAX, CONTEXT, COMBINE, WORD] = [0, 1, 2, 3, 4, 5, 6];
const BOTTOM = 352, TALL = 120, TOP = BOTTOM - TALL, LEFT = 24, RIGHT = 530; // edges of all vectors, and of the source
const MEMORY = 585, NEW = 672, COMBINED = 785; // middles of the decoder's vectors
const STRIP = { x: 190, y: 44, width: 180, height: 22 }; // the context lies above the source

function column(x, values, name, kind) {
  return svg("g", { class: kind }, cells(x - 11, TOP, values, 22, TALL / values.length), text(x, BOTTOM + 18, name, { class: "middle" }));
}

// Where a vector will stand once its step has come: the picture keeps its places.
function ghost(x, y, width, height) {
  return svg("rect", { class: "ghost", x, y, width, height });
}

function arrow(x1, y1, x2, y2, name = "line") {
  const turn = Math.atan2(y2 - y1, x2 - x1), head = 8;
  const wing = (side) => `${x2 - head * Math.cos(turn + side)},${y2 - head * Math.sin(turn + side)}`;
  return svg("path", {
    class: name, "stroke-width": 1.5, d: `M${x1},${y1} L${x2},${y2} M${wing(0.5)} L${x2},${y2} L${wing(-0.5)}`,
  });
}

function source(data, word, step) {
  const room = Math.min(86, (RIGHT - LEFT) / data.source.length);
  // The tokens of a long source stand in two rows, then get smaller letters, then dots: the tooltip has them whole.
  const rows = data.source.length > 7 ? 2 : 1;
  const longest = Math.max(...data.source.map((token) => [...shown(token)].length));
  const size = Math.max(10, Math.min(14, rows * room / (0.62 * longest)));
  const parts = data.source.map((token, i) => {
    const x = LEFT + room * (i + 0.5), weight = data.weights[word][i], tall = 62 * weight;
    const group = svg("g", { class: "source" }, column(x, data.encoder[i], `h${data.subscripts[i + 1]}`, ""),
      text(x, BOTTOM + 40 + 17 * (i % rows), short(token, Math.max(2, Math.floor(rows * room / (0.6 * size)))), {
        class: "middle", style: `font-size: ${size}px`,
      }),
      svg("title", {}, shown(token)));
    if (step === SCORES) group.append(svg("path", {
      class: "line query", "stroke-dasharray": "5 4", d: `M${NEW},${TOP - 8} Q${(NEW + x) / 2},${TOP - 120} ${x},${TOP - 26}`,
    }));
    if (step >= SCORES) group.append(text(x, TOP - 8, data.scores[word][i], {
      class: step === SCORES ? "middle score strong" : "middle score faint",
    }));
    if (step >= SOFTMAX) group.append(
      svg("rect", { class: "bar weight", x: x - 14, y: TOP - 24 - tall, width: 28, height: tall }),
      text(x, TOP - 29 - tall, weight.toFixed(2).replace(rows > 1 ? /^0/ : "", ""), { class: `middle ${step === SOFTMAX ? "strong" : ""}` }));
    if (step >= CONTEXT) group.append(svg("path", {
      class: "flow", "stroke-opacity": 0.15 + 0.85 * weight, "stroke-width": 1 + 5 * weight,
      d: `M${x},${TOP - 46 - tall} L${STRIP.x + STRIP.width / 2},${STRIP.y + STRIP.height + 2}`,
    }));
    return group;
  });
  return svg("g", {}, ...parts);
}

function context(data, word, step) {
  const values = data.contexts[word], now = data.subscripts[word + 1], wide = STRIP.width / values.length;
  const name = text(STRIP.x - 8, STRIP.y + 16, `C${now}`, { class: step < CONTEXT ? "end faint" : "end strong" });
  if (step < CONTEXT) return svg("g", {}, name, ghost(STRIP.x, STRIP.y, STRIP.width, STRIP.height));
  return svg("g", { class: "context" }, name, ...values.map((value, i) => svg("rect", {
    x: STRIP.x + i * wide, y: STRIP.y, width: wide, height: STRIP.height,
    class: value < 0 ? "cell negative" : "cell positive", "fill-opacity": Math.abs(value),
  })));
}

function decoder(data, word, step) {
  const memory = word === 0 ? data.initial : data.states[word - 1];
  const vector = (x, values, name, kind, from) => (step >= from ? column(x, values, name, kind)
    : ghost(x - 11, TOP, 22, TALL));
  const parts = [column(MEMORY, memory, `s${data.subscripts[word]}`, "memory"),
    text((MEMORY + NEW) / 2, BOTTOM + 40, `input: ${short(data.inputs[word], 14)}`, { class: "middle strong" }),
    vector(NEW, data.states[word], `s${data.subscripts[word + 1]}`, "new", STATE),
    vector(COMBINED, data.combined[word], "combined", "combined", COMBINE)];
  if (step >= STATE) parts.push(arrow(MEMORY + 16, BOTTOM - 50, NEW - 16, BOTTOM - 50));
  if (step >= COMBINE) {
    const right = STRIP.x + STRIP.width + 6, turn = (NEW + COMBINED) / 2;
    parts.push(arrow(NEW + 16, BOTTOM - 50, COMBINED - 16, BOTTOM - 50),
      svg("path", { class: "flow", "stroke-width": 2,
        d: `M${right},${STRIP.y + 11} H545 V200 H${turn} V${BOTTOM - 75} H${COMBINED - 18}` }),
      arrow(COMBINED - 24, BOTTOM - 75, COMBINED - 16, BOTTOM - 75, "flow"));
  }
  return svg("g", {}, ...parts);
}

function answer(data, word) {
  const rows = data.words[word].map(([token, probability], i) => {
    const y = 22 + 24 * i, long = 120 * probability;
    return svg("g", { class: "answer" }, text(668, y + 12, short(token, 12), { class: i ? "end" : "end strong" }),
      svg("rect", { class: "bar", x: 676, y, width: long, height: 16 }),
      text(682 + long, y + 13, probability.toFixed(2), { class: i ? "" : "strong" }));
  });
  return svg("g", {}, ...rows, arrow(COMBINED, BOTTOM - 128, COMBINED, 34 + 24 * rows.length));
}

function picture(data, word, step) {
  const drawing = svg("svg", { viewBox: `0 0 860 ${data.source.length > 7 ? 415 : 400}`, role: "img", "aria-label": data.told[word][step].join(" ") },
    source(data, word, step), context(data, word, step), decoder(data, word, step));
  if (step >= WORD) drawing.append(answer(data, word));
  return drawing;
}

function said([name, formula, words], step) {
  return [html("p", {}, html("strong", {}, `${step + 1} · ${name}`)), html("p", { class: "formula" }, formula),
    html("p", {}, words)];
}

function render({ model, el }) {
  const data = model.get("payload"), last = 7 * data.target.length - 1;
  const go = (to) => put(model, "step", Math.max(0, Math.min(last, to)));
  const keys = { ArrowLeft: -1, ArrowRight: 1, PageUp: -7, PageDown: 7, Home: -Infinity, End: Infinity };
  const root = frame(el, "decoding-steps", "Seven steps of decoding; arrow keys step through them", (key) => {
    if (!(key in keys)) return false;
    go(model.get("step") + keys[key]);
    return true;
  });

  let timer = null;
  const stop = () => { clearInterval(timer); timer = null; play.textContent = "▶ Play"; };
  const start = () => {
    if (model.get("step") === last) go(0);
    play.textContent = "❚❚ Pause";
    timer = setInterval(() => (model.get("step") === last ? stop() : go(model.get("step") + 1)), 1400);
  };
  const back = html("button", { type: "button", onclick: () => go(model.get("step") - 1) }, "◀ Back");
  const next = html("button", { type: "button", onclick: () => go(model.get("step") + 1) }, "Next ▶");
  const play = html("button", { type: "button", onclick: () => (timer ? stop() : start()) }, "▶ Play");
  const slider = html("input", {
    type: "range", min: 0, max: last, step: 1, "aria-label": "step", oninput: () => go(Number(slider.value)),
  });
  const words = choices("word", data.target.map((token) => short(token, 14)), (i) => go(7 * i));
  const steps = choices("step", data.told[0].map(([name], i) => `${i + 1} ${name}`), (i) => {
    go(7 * Math.floor(model.get("step") / 7) + i);
  });
  const where = html("output", {}), view = html("div", {}), caption = html("div", { class: "said", "aria-live": "polite" });
  root.append(html("div", { class: "controls" }, back, play, next, slider, where), words.row, steps.row, view, caption,
    html("p", { class: "note" }, data.note));

  const unfollow = follow(model, ["step"], root, () => {
    const at = model.get("step"), word = Math.floor(at / 7), step = at % 7;
    slider.value = at;
    slider.setAttribute("aria-valuetext", `word ${word + 1}, step ${step + 1}: ${data.told[word][step][0]}`);
    where.textContent = `word ${word + 1} of ${data.target.length}, step ${step + 1} of 7`;
    back.disabled = at === 0;
    next.disabled = at === last;
    words.mark(word);
    words.buttons.forEach((button, i) => {
      button.textContent = i < word || (i === word && step === WORD) ? short(data.target[i], 14) : "?";
    });
    steps.mark(step);
    view.replaceChildren(picture(data, word, step));
    caption.replaceChildren(...said(data.told[word][step], step));
  });
  return () => { stop(); unfollow(); };
}

export default { render };
