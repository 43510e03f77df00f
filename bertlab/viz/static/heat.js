// One head as a heat map: rows look, columns are looked at. The canvas is as large as what is in sight of the box
// around it, which scrolls.

import { html, onTheme, short } from "./kit.js";
import { drawHeat, hue, layout, LETTERS, picture, TALLEST, TALLEST_CELL } from "./heat_drawing.js";

const MOVES = {
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [-10, 0], PageDown: [10, 0],
  Home: [0, -Infinity], End: [0, Infinity],
};
const WORTH = 1.25; // times larger, at least, or a step of zoom changes nothing that can be seen
const ZOOMS = { "+": 1, "=": 1, "-": -1, 0: 0 };

// `choose([row, column] or null)` when a cell is clicked, or reached by keys; `look` when the pointer is over one;
// `zoomed({ all, largest })` when cells have got another size.
export function heatMap(root, { choose, look, zoomed }) {
  const canvas = html("canvas", { "aria-hidden": "true" }), sizer = html("div", {}, canvas);
  let map = null, cell = null, hovered = null, pointer = null; // what is shown; which cells are meant
  let size, view = null, image = null, room = 0, due = 0; // how it is drawn

  const box = html("div", {
    class: "heat", tabindex: "0", role: "application", "aria-roledescription": "heat map", onkeydown: pressed,
    onpointermove: moved, onpointerleave: () => moved(null), onclick: (event) => { if (at(event)) choose(at(event)); },
    onscroll: () => { soon(); if (pointer) over(at(pointer)); },
  }, sizer);
  const node = html("div", {}, box);

  function soon() {
    due ||= requestAnimationFrame(() => {
      due = 0;
      if (!map || !view) return;
      image ??= picture(map, hue(root), view.block);
      const scroll = { left: box.scrollLeft, top: box.scrollTop };
      drawHeat({ canvas, root, view, map, image, spot: hovered ?? cell, scroll });
    });
  }

  function at({ clientX, clientY }) {
    if (!map || !view) return null;
    const { left, top } = canvas.getBoundingClientRect();
    const x = clientX - left - view.left, y = clientY - top - view.above;
    if (x < 0 || y < 0) return null;
    const row = Math.floor((y + box.scrollTop) / view.height), column = Math.floor((x + box.scrollLeft) / view.width);
    return row < map.rows.length && column < map.columns.length ? [row, column] : null;
  }

  function moved(event) {
    pointer = event && { clientX: event.clientX, clientY: event.clientY };
    over(event && at(event));
  }

  function over(place) {
    if (`${place}` === `${hovered}`) return;
    hovered = place;
    look(hovered);
    soon();
  }

  function pressed(event) {
    if (!map || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key in ZOOMS || event.key in MOVES) moved(null); // now the chosen cell counts, not the one pointed at
    if (event.key in ZOOMS) zoom(ZOOMS[event.key]);
    else if (event.key in MOVES) step(...MOVES[event.key]);
    else if (event.key === "Escape" && cell) choose(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function step(down, right) {
    const inside = (i, n) => Math.max(0, Math.min(n - 1, i));
    choose(cell ? [inside(cell[0] + down, map.rows.length), inside(cell[1] + right, map.columns.length)] : [0, 0]);
  }

  // 1: larger cells, -1: smaller ones, 0: all of them again. What is chosen, or in the middle, stays where it is.
  function zoom(direction) {
    if (!view) return;
    if (direction > 0 && view.height * WORTH > TALLEST_CELL) return;
    const fits = layout(map, room).height, wanted = direction === 0 ? fits : view.height * 1.6 ** direction;
    const row = cell ? cell[0] + 0.5 : (box.scrollTop + (view.tall - view.above) / 2) / view.height;
    const column = cell ? cell[1] + 0.5 : (box.scrollLeft + (view.wide - view.left) / 2) / view.width;
    const y = row * view.height - box.scrollTop, x = column * view.width - box.scrollLeft;
    size = wanted <= 1.05 * fits ? undefined : Math.min(TALLEST_CELL, wanted);
    place();
    box.scrollTo(column * view.width - x, row * view.height - y);
    if (cell) reveal();
  }

  function reveal() {
    const bring = (start, extent, from, seen) => Math.max(Math.min(start, from), start + extent - seen);
    const [row, column] = cell;
    box.scrollTo(bring(column * view.width, view.width, box.scrollLeft, view.wide - view.left),
      bring(row * view.height, view.height, box.scrollTop, view.tall - view.above));
  }

  // Give box and canvas their sizes, then draw.
  function place() {
    room = Math.floor(node.clientWidth);
    if (!map || !room) return;
    map.longest ??= { row: longest(map.rows), column: longest(map.columns) }; // on the page only, text has a width
    const block = view?.block;
    view = layout(map, room, size);
    if (view.block !== block) image = null;
    const pixels = (n) => `${Math.floor(n)}px`;
    const { across, down } = view;
    Object.assign(sizer.style, { width: pixels(across), height: pixels(down) });
    Object.assign(box.style, { width: pixels(Math.min(room, across)), height: pixels(Math.min(TALLEST, down)) });
    Object.assign(view, { wide: box.clientWidth, tall: box.clientHeight });
    zoomed({ all: size === undefined, largest: view.height * WORTH > TALLEST_CELL });
    soon();
  }

  function longest(tokens) {
    const pen = canvas.getContext("2d");
    pen.font = `700 13px ${getComputedStyle(root).fontFamily}`;
    return Math.max(24, ...tokens.map((token) => pen.measureText(short(token, LETTERS)).width));
  }

  const watch = new ResizeObserver(() => { if (Math.floor(node.clientWidth) !== room) place(); });
  watch.observe(node);
  const offTheme = onTheme(root, () => { image = null; soon(); });

  return {
    node, zoom,
    // weights, rows and columns (tokens), top (the weight of full colour), splits ([row, column] or nothing),
    // diagonal (whether to outline where a token looks at itself)
    show(given, name) {
      const same = map?.rows === given.rows && map?.columns === given.columns;
      map = { ...given, longest: same ? map.longest : null };
      image = null;
      if (!same) [size, hovered] = [undefined, null];
      box.setAttribute("aria-label", name);
      if (same && view) soon();
      else place();
    },
    point(chosen) {
      const other = `${chosen}` !== `${cell}`;
      cell = chosen;
      if (chosen && other && view) reveal();
      soon();
    },
    close() {
      cancelAnimationFrame(due);
      watch.disconnect();
      offTheme();
    },
  };
}
