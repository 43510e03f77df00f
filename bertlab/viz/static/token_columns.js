// A column of tokens as a list from which several can be chosen, by pointer and by keyboard.

import { html, shown } from "./kit.js";

const JUMPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

const FONT = "14px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"; // as in kit.css
const NARROWEST = 112; // pixels: there is room for what stands above
const PEN = document.createElement("canvas").getContext("2d");

// `on` is told what the reader does: point(row or null), walk(row), choose(row), cross(row) to the other column.
export function tokenColumn(label, on) {
  const list = html("div", {
    class: "tokens", role: "listbox", "aria-label": label, "aria-multiselectable": "true",
    onpointerover: (event) => { if (event.pointerType !== "touch") on.point(rowOf(event)); },
    onpointerleave: () => on.point(null),
    onclick: (event) => { if (rowOf(event) !== null) { stop(rowOf(event)); on.choose(rowOf(event)); } },
    onkeydown: pressed,
    onfocusin: (event) => { if (event.target.matches(":focus-visible")) on.walk(rowOf(event)); },
    onfocusout: () => on.walk(null),
  });
  let options = [], current = 0, longest = 0;

  function rowOf(event) {
    const row = options.indexOf(event.target.closest("[role=option]"));
    return row < 0 ? null : row;
  }

  // The one option that the Tab key comes to.
  function stop(row) {
    options[current]?.setAttribute("tabindex", "-1");
    current = row;
    options[current]?.setAttribute("tabindex", "0");
  }

  function walk(row) {
    if (!options.length) return;
    stop(Math.max(0, Math.min(options.length - 1, row)));
    options[current].focus({ preventScroll: true });
    on.walk(current);
  }

  function pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || rowOf(event) === null) return;
    if (event.key in JUMPS) walk(current + JUMPS[event.key]);
    else if (event.key === "Enter" || event.key === " ") on.choose(current);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") on.cross(current);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function option(row) {
    const token = shown(row.name);
    return html("div", { role: "option", dir: "auto", tabindex: "-1", "aria-selected": "false", title: token }, token);
  }

  // With `pair`, the tokens of a second sentence stand in a group of their own.
  function fill(rows, pair) {
    options = rows.map(option);
    const parts = ["A", "B"].map((name) => [name, options.filter((_, i) => rows[i].b === (name === "B"))]);
    const group = ([name, some]) => html("div",
      { role: "group", "aria-label": `sentence ${name}`, "data-name": name }, ...some);
    list.replaceChildren(...(pair ? parts.filter(([, some]) => some.length).map(group) : options));
    stop(Math.min(current, Math.max(0, options.length - 1)));
    PEN.font = FONT;
    const widths = options.map((node) => PEN.measureText(node.textContent).width);
    longest = Math.ceil(Math.max(NARROWEST, ...widths)) + 12;
  }

  function mark(chosen) {
    const wanted = new Set(chosen);
    options.forEach((node, i) => {
      const was = node.getAttribute("aria-selected") === "true";
      if (was !== wanted.has(i)) node.setAttribute("aria-selected", wanted.has(i));
    });
  }

  return { list, fill, mark, walk, width: () => longest };
}
