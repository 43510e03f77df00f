// All heads as thumbnails, a row a layer. A canvas has the pictures; over it lie the cells of a grid that can be
// pointed at, reached by arrow keys, and read out.

import { html, ink, onTheme, sharp } from "./kit.js";
import { hue, painted } from "./heat_drawing.js";

const SMALLEST = 36, NARROWEST = 24, LARGEST = 68, TALLEST = 560; // CSS pixels: of a thumbnail with its gap, and of the whole
const LEFT = 34, ABOVE = 22, GAP = 4; // for the numbers of layers and of heads (as in kit.css), between thumbnails
const PREVIEW = 128; // of the head that is drawn larger
const BESIDE = 232, NARROW = 640; // what stands beside the grid, unless the page is narrow
const MOVES = {
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [-5, 0], PageDown: [5, 0],
  Home: [0, -Infinity], End: [0, Infinity],
};

// `open([layer, head])`: clicked, or Enter; `look([layer, head] or null)`: under the pointer, or focused.
export function headGrid(root, { open, look }) {
  let given = null, thumbnails = null, images = null, marked = [], opened = null; // what is shown
  let preview = null; // { canvas, place }: a head drawn larger elsewhere
  let cells = [], current = [0, 0], pitch = 0, room = 0, due = 0; // how

  const canvas = html("canvas", { "aria-hidden": "true" });
  const grid = html("div", {
    role: "grid", "aria-label": "heads: a row for each layer, a column for each head", onkeydown: pressed,
    onclick: (event) => at(event, open), onpointerover: (event) => at(event, look), onpointerleave: () => look(null),
    onfocusin: (event) => at(event, (place) => { rove(place); look(place); }), onfocusout: () => look(null),
  });
  const hint = html("p", { class: "note" });
  const node = html("div", { class: "heads", onscroll: () => tellHidden() }, html("div", { class: "sheet" }, canvas, grid));

  function at(event, then) {
    const cell = event.target.closest("[role=gridcell]");
    if (cell) then(cell.place);
  }

  // One cell alone is a stop of the Tab key: the one that was last focused.
  function rove([layer, head]) {
    cells[current[0]]?.[current[1]]?.setAttribute("tabindex", "-1");
    current = [layer, head];
    cells[layer][head].setAttribute("tabindex", "0");
  }

  function pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") open(current);
    else if (event.key in MOVES) {
      const inside = (i, n) => Math.max(0, Math.min(n - 1, i)), [down, right] = MOVES[event.key];
      const row = cells[inside(current[0] + down, cells.length)];
      row[inside(current[1] + right, row.length)].focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const most = () => Math.max(...given.heads);

  // As large as lets all be seen, but not too small to be seen.
  function place() {
    room = root.clientWidth;
    if (!given || !room) return;
    const free = room - 10 - (room < NARROW ? 0 : BESIDE);
    const across = (free - LEFT) / most(), down = (TALLEST - ABOVE - 2) / given.heads.length;
    pitch = Math.floor(Math.max(NARROWEST, Math.min(LARGEST, across, Math.max(SMALLEST, down))));
    grid.style.setProperty("--pitch", `${pitch}px`);
    node.style.width = `${Math.min(free, LEFT + pitch * most())}px`;
    tellHidden();
    soon();
  }

  // Which heads and layers have to be scrolled to, in words.
  function tellHidden() {
    if (!given || !pitch) return;
    const missing = (from, seen, n) => {
      const first = Math.round(from / pitch), last = Math.floor((from + seen) / pitch + 0.1);
      return [[0, first - 1], [last, n - 1]].filter(([a, b]) => a <= b)
        .map(([a, b]) => (a === b ? `${a}` : `${a}–${b}`));
    };
    const heads = missing(node.scrollLeft, node.clientWidth - LEFT, most());
    const layers = missing(node.scrollTop, node.clientHeight - ABOVE, given.heads.length);
    const parts = [["heads", heads], ["layers", layers]].filter(([, some]) => some.length)
      .map(([name, some]) => `${name} ${some.join(" and ")}`);
    hint.textContent = parts.length ? `Scroll for ${parts.join(", ")}.` : "";
  }

  function soon() {
    due ||= requestAnimationFrame(() => {
      due = 0;
      if (given && pitch) draw();
    });
  }

  function pictures() {
    const [tall, wide] = given.size, colour = hue(root), size = tall * wide;
    return given.largest.flat().map((largest, i) => {
      const levels = thumbnails.subarray(i * size, (i + 1) * size), part = (given.ownScale ? 1 : largest) / 255;
      return painted(levels, wide, tall, colour, (level) => part * level);
    });
  }

  function draw() {
    const pen = sharp(canvas, most() * pitch, given.heads.length * pitch), side = pitch - GAP;
    const { colour } = ink(root), mark = getComputedStyle(root).getPropertyValue("--mark");
    if (thumbnails) images ??= pictures();
    pen.imageSmoothingEnabled = given.size[1] > side;
    cells.flat().forEach(({ place: [layer, head] }, i) => {
      const x = head * pitch + GAP / 2, y = layer * pitch + GAP / 2;
      if (images) pen.drawImage(images[i], x, y, side, side);
      Object.assign(pen, { strokeStyle: colour, lineWidth: 1, globalAlpha: 0.3 });
      pen.strokeRect(x - 0.5, y - 0.5, side + 1, side + 1);
      pen.globalAlpha = 1;
    });
    if (preview && images) enlarged(preview, colour);
    const size = Math.max(7, Math.min(9, side / 5));
    marked.forEach(([layer, head], i) => {
      badge(pen, (head + 1) * pitch - GAP / 2, layer * pitch + GAP / 2, size, i + 1, mark);
    });
    if (opened) {
      Object.assign(pen, { strokeStyle: mark, lineWidth: 3 });
      pen.strokeRect(opened[1] * pitch + 1.5, opened[0] * pitch + 1.5, pitch - 3, pitch - 3);
    }
  }

  // One head again, larger, and in self-attention with a line where a token looks at itself.
  function enlarged({ canvas: large, place: [layer, head] }, colour) {
    const pen = sharp(large, PREVIEW, PREVIEW), before = given.heads.slice(0, layer).reduce((sum, n) => sum + n, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(images[before + head], 0, 0, PREVIEW, PREVIEW);
    Object.assign(pen, { strokeStyle: colour, lineWidth: 1, globalAlpha: 0.5 });
    pen.strokeRect(0.5, 0.5, PREVIEW - 1, PREVIEW - 1);
    if (given.cross) return;
    pen.setLineDash([3, 3]);
    pen.beginPath();
    pen.moveTo(0, 0);
    pen.lineTo(PREVIEW, PREVIEW);
    pen.stroke();
  }

  // Rows of cells, made anew for another set of layers.
  function build() {
    const header = (role, words, label) => html("span", { role, "aria-label": label }, words);
    cells = given.heads.map((count, layer) => Array.from({ length: count }, (_, head) => (
      Object.assign(html("span", { role: "gridcell", tabindex: "-1" }), { place: [layer, head] }))));
    const numbers = Array.from({ length: most() }, (_, head) => header("columnheader", `${head}`, `head ${head}`));
    const row = (...parts) => html("div", { role: "row" }, ...parts);
    grid.replaceChildren(row(header("columnheader", "", "layer"), ...numbers),
      ...cells.map((heads, layer) => row(header("rowheader", `${layer}`, `layer ${layer}`), ...heads)));
    rove([0, 0]);
  }

  const watch = new ResizeObserver(() => { if (root.clientWidth !== room) place(); });
  watch.observe(root);
  const offTheme = onTheme(root, () => { images = null; soon(); });

  return {
    node, hint,
    focus: () => cells[current[0]][current[1]].focus(),
    // heads (of each layer), cross, size (rows, columns of a thumbnail), largest (weight of each head), told (of each head),
    // ownScale; `levels`: all thumbnails, or nothing yet
    show(next, levels) {
      const others = given?.told !== next.told;
      given = next;
      thumbnails = levels;
      images = null;
      if (others) build();
      if (others) place();
      soon();
    },
    // Draw a head larger on a canvas; nothing: no longer.
    enlarge(canvas, place) {
      preview = canvas && { canvas, place };
      soon();
    },
    // ranked: [layer, head, value] of each, the first first; open: [layer, head] or null
    mark(ranked, open) {
      [marked, opened] = [ranked, open];
      for (const cell of cells.flat()) {
        const [layer, head] = cell.place, rank = ranked.findIndex((other) => other[0] === layer && other[1] === head);
        const name = `${rank >= 0 ? `number ${rank + 1}: ` : ""}layer ${layer}, head ${head}`;
        cell.setAttribute("aria-selected", `${open}` === `${cell.place}`);
        cell.setAttribute("aria-label", `${name}. ${given.told[layer][head]}`);
      }
      soon();
    },
    close() {
      cancelAnimationFrame(due);
      watch.disconnect();
      offTheme();
    },
  };
}

// A number on a disc in the upper right corner.
function badge(pen, right, top, size, rank, mark) {
  pen.fillStyle = mark;
  pen.beginPath();
  pen.arc(right - size, top + size, size, 0, 2 * Math.PI);
  pen.fill();
  Object.assign(pen, { fillStyle: "#fff", textAlign: "center", textBaseline: "middle" });
  pen.font = `700 ${1.4 * size}px sans-serif`;
  pen.fillText(`${rank}`, right - size, top + size + 0.5);
}
