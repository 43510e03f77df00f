// Draws the lines between two columns of tokens, and the strips of cells beside them, as far as they are in sight.

export const ROW = 22; // pixels of a token's row
const MEAN = 38; // pixels for the mean of the heads, in numbers
const LANES = 13; // pixels of a row over which the ends of its heads are spread: each head has its place
const LEVELS = 10; // of opacity and width; the lines of one level look alike
const THIN = 3; // levels below this are one pixel wide: many such lines at one stroke are quick, wider ones are not
const FONT = "12px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";
const MOST = 6000; // lines at once, the strongest: more can be neither told apart nor drawn in good time

const levelOf = (weight) => Math.min(LEVELS - 1, Math.floor(Math.sqrt(weight) * LEVELS));
const widthOf = (level) => Math.max(1, 1 + 0.35 * (level - THIN + 1));
// With a token in focus weak lines may be seen well; without, they would cover the strong ones. On black they fade.
const opacityOf = (level, focus, dark) => ((level + 0.7) / LEVELS) ** ((focus ? 1 : 1.7) * (dark ? 0.75 : 1));

// Colours come again after some heads: then the lines are dashed, and then dotted.
const DASHES = [[], [7, 4], [1.5, 3]];
const dashOf = (colours, head) => DASHES[Math.min(DASHES.length - 1, Math.floor(head / colours.length))];
const colourOf = (colours, head) => colours[head % colours.length];
const laneOf = (head, nHeads) => LANES * ((head + 0.5) / nHeads - 0.5);

// Lines by level, the strongest level last: head, query, key, one after the other. Without a focus, only lines that
// have an end in sight.
function collect({ weights, rows, seen, focus, threshold }) {
  const levels = Array.from({ length: LEVELS }, () => []), nQueries = rows[0].length, nKeys = rows[1].length;
  let count = 0, most = 0;
  const take = (head, query, key, weight) => {
    if (weight > most) most = weight;
    if (weight < threshold || weight <= 0) return;
    levels[levelOf(weight)].push(head, query, key);
    count++;
  };
  const [[firstQuery, lastQuery], [firstKey, lastKey]] = seen;
  for (const [head, values] of weights) {
    const row = (query, from, to) => {
      for (let key = from; key < to; key++) take(head, query, key, values[query * nKeys + key]);
    };
    for (let query = 0; query < nQueries; query++) {
      if (focus?.side === 0) continue;
      if (focus) for (const key of focus.rows) row(query, key, key + 1);
      else if (query >= firstQuery && query < lastQuery) row(query, 0, nKeys);
      else row(query, firstKey, lastKey);
    }
    if (focus?.side === 0) for (const query of focus.rows) row(query, 0, nKeys);
  }
  return { levels, count, most };
}

// Leave out the weakest lines beyond `MOST`; of the weakest level that stays, evenly spread ones.
function strongest(levels) {
  let room = MOST;
  return levels.slice().reverse().map((level) => {
    const n = level.length / 3;
    const kept = n <= room ? level : Array.from({ length: room }, (_, i) => 3 * Math.floor((i * n) / room))
      .flatMap((at) => [level[at], level[at + 1], level[at + 2]]);
    room -= kept.length / 3;
    return kept;
  }).reverse();
}

// Where everything is: the inner edges of the columns, y of a row's middle, and the grid that puts the columns there.
// A column that is shorter than the box stays while the other one scrolls.
export function placeOf(width, height, rows, scrolled, nHeads, wanted) {
  const cell = Math.max(2, Math.min(10, Math.floor(Math.min(120, 0.16 * width) / nHeads)));
  const [left, right] = wanted.map((room) => Math.round(Math.min(room, 0.26 * width)));
  const stays = rows.map((side) => side.length * ROW <= height);
  return {
    edges: [left + 4, width - right - 4], cell, strip: nHeads * cell, stays, height, scrolled,
    whole: stays[0] && stays[1],
    y: (side, row) => (row + 0.5) * ROW - (stays[side] ? 0 : scrolled),
    template: `${left}px 1fr ${right}px`,
  };
}

// First and last row in sight, the last not included, for both columns.
export function inSight({ stays, height, scrolled }, rows) {
  return rows.map((side, i) => (stays[i] ? [0, side.length]
    : [Math.floor(scrolled / ROW), Math.min(side.length, Math.ceil((scrolled + height) / ROW))]));
}

// With a focus, the lines leave room for the strips beside the other column.
function ends(place, focus) {
  const beside = place.strip + MEAN + 4;
  return [place.edges[0] + (focus?.side === 1 ? beside : 0), place.edges[1] - (focus?.side === 0 ? beside : 0)];
}

// Returns how many lines there are, and are drawn, and the largest weight, even if it is not drawn.
export function drawLines(pen, place, what, { colours, dark }) {
  const { levels, count, most } = collect(what), { focus } = what, [left, right] = ends(place, focus);
  const kept = count > MOST ? strongest(levels) : levels;
  kept.forEach((lines, level) => {
    const byHead = new Map();
    for (let i = 0; i < lines.length; i += 3) {
      if (!byHead.has(lines[i])) byHead.set(lines[i], []);
      byHead.get(lines[i]).push(i);
    }
    for (const [head, starts] of byHead) {
      const lane = laneOf(head, what.nHeads);
      Object.assign(pen, { strokeStyle: colourOf(colours, head), lineWidth: widthOf(level) });
      pen.globalAlpha = opacityOf(level, focus, dark);
      pen.setLineDash(dashOf(colours, head));
      pen.beginPath();
      for (const i of starts) {
        pen.moveTo(left, place.y(0, lines[i + 1]) + lane);
        pen.lineTo(right, place.y(1, lines[i + 2]) + lane);
        if (level >= THIN) {
          pen.stroke();
          pen.beginPath();
        }
      }
      pen.stroke();
    }
  });
  pen.globalAlpha = 1;
  pen.setLineDash([]);
  return { count, drawn: Math.min(count, MOST), most };
}

// Where lines would be: why there are none.
export function drawNothing(pen, place, focus, most, threshold, { colour }) {
  const [left, right] = ends(place, focus), said = most > 0 ? `no weight reaches ${threshold}` : "no weight above 0";
  Object.assign(pen, { font: FONT, textBaseline: "middle", textAlign: "center", fillStyle: colour });
  pen.fillText(said, (left + right) / 2, Math.min(place.height / 2, 60), right - left);
}

// Beside each row of `side` in sight: a cell for each head in its place, stronger for more, and the mean in numbers.
export function drawStrips(pen, place, side, { byHead, means, seen, n }, { colours, colour, dark }) {
  const { cell, strip } = place, x = side === 0 ? place.edges[0] + 2 : place.edges[1] - strip - 1;
  Object.assign(pen, { font: FONT, textBaseline: "middle" });
  pen.textAlign = side === 0 ? "left" : "right";
  for (let row = seen[0]; row < seen[1]; row++) {
    const y = place.y(side, row), top = Math.round(y - 0.38 * ROW), tall = Math.round(0.76 * ROW);
    for (const [head, values] of byHead) {
      pen.fillStyle = colourOf(colours, head);
      pen.globalAlpha = Math.min(1, values[row] / n) ** (dark ? 0.4 : 0.5);
      pen.fillRect(x + head * cell, top, cell - 1, tall);
    }
    Object.assign(pen, { strokeStyle: colour, fillStyle: colour, lineWidth: 1, globalAlpha: 0.3 });
    pen.strokeRect(x - 1.5, top - 1.5, strip + 2, tall + 3);
    pen.globalAlpha = means[row] < 0.005 ? 0.5 : 1;
    if (byHead.size) pen.fillText(means[row].toFixed(2), side === 0 ? x + strip + 5 : x - 6, y + 1);
  }
  pen.globalAlpha = 1;
}
