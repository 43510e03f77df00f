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

// A token as it can be seen: empty, blank and line-breaking ones get a sign (as in style.py).
export function shown(token) {
  if (token === "") return "∅";
  if (/^ +$/.test(token)) return "␣".repeat(token.length);
  return token.replace(/[\n\r]/g, "↵").replace(/\t/g, "⇥");
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
