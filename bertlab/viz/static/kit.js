// What all explorers share. Text enters a page as text nodes alone: nothing here or in an explorer parses markup.

const SVG = "http://www.w3.org/2000/svg";

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children); // a string becomes a text node
  return node;
}

export function html(name, attributes, ...children) {
  return build(document.createElement(name), attributes, children);
}

export function svg(name, attributes, ...children) {
  return build(document.createElementNS(SVG, name), attributes, children);
}

export function text(x, y, words, attributes) {
  return svg("text", { x, y, ...attributes }, words);
}

// A token as it can be seen: what would vanish or disturb the text around it gets a sign (as in style.py).
const SIGNS = { "\n": "↵", "\r": "↵", "\t": "⇥" };
const UNSEEN = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu;
const INVISIBLE = /^[\u00ad\u034f\u061c\u180e\u200b-\u200f\u2060-\u206f\ufe00-\ufe0f\ufeff]+$/;

export function shown(token) {
  if (token === "") return "∅";
  if (/^ +$/.test(token)) return "␣".repeat(token.length);
  if (INVISIBLE.test(token)) {
    return [...token].map((letter) => `U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`).join(" ");
  }
  return token.replace(UNSEEN, (letter) => SIGNS[letter] ?? "\ufffd");
}

// A token that fits into `room` letters; the whole of it is in the tooltip and for screen readers.
export function short(token, room) {
  const letters = [...shown(token)];
  return letters.length <= room ? letters.join("") : letters.slice(0, room - 1).join("") + "…";
}

// A column of cells: blue for positive numbers, orange for negative ones, stronger for larger ones.
export function cells(x, y, values, width, height) {
  return svg("g", {}, ...values.map((value, i) => svg("rect", {
    x, y: y + i * height, width, height, class: value < 0 ? "cell negative" : "cell positive",
    "fill-opacity": Math.abs(value),
  })));
}

// Frame of every explorer. Keys typed inside belong to it, not to JupyterLab, which would keep them from a slider.
const ON_SLIDER = { ArrowUp: "ArrowRight", ArrowDown: "ArrowLeft" };

export function frame(el, name, label, onkeydown) {
  const root = html("div", {
    class: `bertlab ${name}`, role: "group", "aria-label": label, tabindex: "0", "data-lm-suppress-shortcuts": "true",
    onkeydown: (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (onkeydown((event.target.type === "range" && ON_SLIDER[event.key]) || event.key)) {
        event.preventDefault();
        event.stopPropagation();
      }
    },
  });
  el.append(root);
  return root;
}

// Draw now and whenever a trait changes; returns what undoes it all.
export function follow(model, traits, root, draw) {
  for (const trait of traits) model.on(`change:${trait}`, draw);
  draw();
  return () => {
    for (const trait of traits) model.off(`change:${trait}`, draw);
    root.remove();
  };
}

export function put(model, trait, value) {
  if (model.get(trait) === value) return;
  model.set(trait, value);
  model.save_changes();
}

// One of several buttons is chosen; `choose` is called with its index.
export function choices(label, names, choose) {
  const buttons = names.map((name, i) => html("button", { type: "button", onclick: () => choose(i) }, name));
  const row = html("div", { class: "choices", role: "group", "aria-label": label }, html("span", {}, label), ...buttons);
  const mark = (chosen) => buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === chosen));
  return { row, mark, buttons };
}

// A slider with its name before it and its value, in words, after it. It takes its keys itself: in a notebook,
// JupyterLab would keep the arrow keys from a native one.
const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };

export function slider(label, last, said, choose) {
  function to(place) {
    input.value = Math.max(0, Math.min(last, place)); // at once: a second key may come before all is drawn again
    choose(Number(input.value));
  }
  const input = html("input", {
    type: "range", min: 0, max: last, step: 1, "aria-label": label, oninput: () => to(Number(input.value)),
    onkeydown: (event) => {
      if (!(event.key in STEPS) || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      to(Number(input.value) + STEPS[event.key]);
    },
  });
  const value = html("output", {}), row = html("label", { class: "slider" }, html("span", {}, label), input, value);
  const mark = (place) => {
    input.value = place;
    input.setAttribute("aria-valuetext", said(place));
    value.textContent = said(place);
  };
  return { row, mark, input };
}

// A button that stays pressed.
export function toggle(name, flip) {
  const button = html("button", { type: "button", onclick: () => flip(button.getAttribute("aria-pressed") !== "true") }, name);
  const mark = (on) => button.setAttribute("aria-pressed", on === true);
  return { button, mark };
}

// The same numbers as a table, for screen readers and for whoever wants them: made only while it is open.
export function table(summary, content) {
  const place = html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": summary });
  const fold = html("details", { class: "table", ontoggle: () => draw() }, html("summary", {}, summary), place);
  const line = (kind, cells) => html("tr", {}, ...cells.map((cell, i) => html(i && kind === "td" ? "td" : "th",
    { scope: kind === "th" ? "col" : i === 0 ? "row" : null }, cell)));
  function draw() {
    if (!fold.open) return place.replaceChildren();
    const { caption, head, rows } = content();
    place.replaceChildren(html("table", {}, html("caption", {}, caption), html("thead", {}, line("th", head)),
      html("tbody", {}, ...rows.map((row) => line("td", row)))));
  }
  return { fold, draw };
}

// A canvas as sharp as the screen, cleared, measured in CSS pixels. Give it `role` and `aria-label` where it is made.
export function sharp(canvas, width, height) {
  const dots = globalThis.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * dots) || canvas.height !== Math.round(height * dots)) {
    Object.assign(canvas, { width: Math.round(width * dots), height: Math.round(height * dots) });
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(dots, 0, 0, dots, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

// The host's text colour, and whether it is light (then what is behind it is dark). JupyterLab puts a widget on the
// page only after it has been rendered: until then it has no colour.
export function ink(root) {
  const colour = getComputedStyle(root).color, [red, green, blue] = (colour.match(/[\d.]+/g) ?? [0, 0, 0]).map(Number);
  return { colour, dark: 0.2126 * red + 0.7152 * green + 0.0722 * blue > 127 };
}

// Draw again when the host changes its theme; returns what undoes it.
export function onTheme(root, draw) {
  let last = ink(root).colour;
  const look = () => {
    const now = ink(root).colour;
    if (now !== last) { last = now; draw(); }
  };
  const media = ["(prefers-color-scheme: dark)", "(forced-colors: active)", "print"].map((query) => matchMedia(query));
  const watch = new MutationObserver(() => requestAnimationFrame(look));
  for (const node of [document.documentElement, document.body]) watch.observe(node, { attributes: true });
  for (const query of media) query.addEventListener("change", look);
  return () => {
    watch.disconnect();
    for (const query of media) query.removeEventListener("change", look);
  };
}
