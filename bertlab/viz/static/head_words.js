// What the head view shows, in words.

const ROUND = 8; // heads of different colours (style.py)
const FEW = 3; // tokens that are named one by one

const units = (now, n) => `${n} ${now.merge_words ? "word" : "token"}${n === 1 ? "" : "s"}`;
const named = (now, names) => (names.length > FEW ? units(now, names.length) : names.join(" and "));
export const linesSaid = (n) => `${n} line${n === 1 ? "" : "s"}`;

function headsSaid({ on, here }) {
  if (on.length === here) return here === 1 ? "the only head" : `all ${here} heads`;
  return on.length === 1 ? `head ${on[0]}` : `heads ${on.join(", ")}`;
}

export function sumSaid(now, names) {
  return names.length > 1 ? `sum over ${units(now, names.length)}` : "";
}

// What the numbers beside the cells are; in the table, whose other columns are sums, too, more exactly.
export function numberSaid({ on }, n, inTable) {
  if (n > 1) return inTable && on.length > 1 ? "sum, mean of heads" : "sum";
  return on.length > 1 ? "mean" : "weight";
}

export function numbersSaid(now, names) {
  const sum = sumSaid(now, names), { on: { length: heads } } = now;
  return sum && heads > 1 ? `${sum}, mean of ${heads} heads` : sum;
}

export function captionSaid(now, side, names) {
  const look = names.length > 1 ? "look" : "looks";
  const what = side ? `what looks at ${named(now, names)}` : `where ${named(now, names)} ${look}`;
  const sum = sumSaid(now, names), mean = now.on.length > 1 ? ", and their mean" : "";
  return `Layer ${now.layer}: ${what}${sum && `, ${sum}`}; ${sum ? "sums" : "weights"} of each head${mean}`;
}

// What is in focus, and the three tokens of the other column that matter most to it.
export function focusSaid(now, side, names, others, means) {
  if (!now.on.length) return `Layer ${now.layer}: no head is on.`;
  const most = [...means.keys()].sort((a, b) => means[b] - means[a]).slice(0, FEW).filter((i) => means[i] > 0)
    .map((i) => `${others[i].said} ${means[i].toFixed(2)}`).join(", ");
  const [looks, is] = names.length > 1 ? ["look", "are"] : ["looks", "is"];
  const verb = side ? `${is} looked at most by` : `${looks} most at`;
  const heads = now.on.length > 1 ? `mean of ${headsSaid(now)}` : headsSaid(now);
  const how = [sumSaid(now, names), heads].filter(Boolean).join(", ");
  return `Layer ${now.layer}: ${named(now, names)} ${verb} ${most || "nothing"} (${how}).`;
}

export function nothingSaid(now) {
  if (!now.on.length) return `Layer ${now.layer}: no head is on.`;
  return `Layer ${now.layer}, ${headsSaid(now)}. Point at a token to see its lines; click it to keep them, `
    + "several to add them up.";
}

// Fixed tokens that the reader's other choices have taken off the page, and what brings them back.
export function hiddenSaid(now, side, rows) {
  const other = now.sentences[side] === "A" ? "B" : "A"; // the sentence that this column does not show
  const away = rows.filter((row) => now.sentences !== "all" && row.b === (other === "B"));
  const special = rows.filter((row) => !away.includes(row));
  const said = (some, [one, several]) => (some.length
    ? [`${named(now, some.map((row) => row.said))} ${some.length > 1 ? several : one}`] : []);
  const [first, second] = side ? [`A→${other}`, `B→${other}`] : [`${other}→A`, `${other}→B`];
  const back = (it) => `${first} or ${second} shows ${it}.`;
  return [
    ...said(away, [`stands in sentence ${other} and is not shown; ${back("it")}`,
      `stand in sentence ${other} and are not shown; ${back("them")}`]),
    ...said(special, ["is a special token and hidden.", "are special tokens and hidden."]),
  ].join(" ");
}

// Which tokens of long columns are in sight.
export function sightSaid(set, rows, seen) {
  const parts = rows.map((side, i) => {
    const [first, last] = seen[i], n = set[["queries", "keys"][i]].length;
    if (last - first >= side.length) return "all";
    return `${side[first].positions[0]}–${side[last - 1].positions.at(-1)} of ${n}`;
  });
  if (parts.every((part) => part === "all")) return "";
  const [left, right] = parts.map((part, i) => (part === "all" ? `all ${rows[i].length}` : part));
  return left === right ? left : `${left} and ${right}`;
}

function drawnSaid(now, { count, drawn, most }, sight, loaded) {
  if (!count && !now.on.length) return "0 lines: no head is on.";
  if (!count && loaded) {
    const where = sight ? " in sight" : "", largest = Math.floor(1000 * most) / 1000; // never up to the threshold
    if (!most) return `0 lines: no weight${where} is above 0.`;
    return `0 lines: no weight${where} reaches ${now.threshold}, the largest is ${largest}; lower “lines from”.`;
  }
  return drawn < count ? `${drawn} of ${count} lines are drawn, the strongest.` : `${linesSaid(count)}.`;
}

// How heads of the same colour are told apart.
function dashesSaid(heads) {
  if (heads <= ROUND) return "";
  const last = Math.min(heads, 2 * ROUND) - 1, dashed = last > ROUND ? `heads ${ROUND}–${last}` : `head ${ROUND}`;
  const dotted = heads > 2 * ROUND ? `, from head ${2 * ROUND} on dotted` : "";
  return `Lines of ${dashed} are dashed${dotted}.`;
}

function strongestSaid(k) {
  const kept = k === 1 ? "Only the largest weight of each query and head counts"
    : `Only the ${k} largest weights of each query and head count`;
  return `${kept}; in the numbers, too, the others are 0.`;
}

// What is left out or rounded.
export function noteSaid(now, data, lines, { sight, focused, loaded }) {
  const said = [drawnSaid(now, lines, focused ? "" : sight, loaded)], dashed = dashesSaid(now.here);
  if (dashed) said.push(dashed);
  if (now.threshold) said.push(`Lines under ${now.threshold} are not drawn.`);
  const beyond = focused ? "" : "; lines with both ends out of sight are not drawn";
  if (sight) said.push(`In sight are tokens ${sight}${beyond}.`);
  if (now.top_k) said.push(strongestSaid(now.top_k));
  if (now.merge_words) said.push("To a word counts the sum over its pieces, from a word the mean.");
  if (now.hide_special) said.push("Special tokens are hidden; what goes to them is not given to others.");
  if (now.sentences !== "all") said.push(`Only from sentence ${now.sentences[0]} to sentence ${now.sentences[1]}.`);
  said.push(`Weights are off by less than ${data.error}. Tokens, layers and heads are counted from 0.`);
  return said.join(" ");
}
