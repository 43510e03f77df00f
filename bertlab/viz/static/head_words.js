// What the head view shows, in words.

import { shown } from "./kit.js";

const FEW = 3; // tokens that are named one by one

const units = (now, n) => `${n} ${now.merge_words ? "word" : "token"}${n === 1 ? "" : "s"}`;
const named = (now, names) => (names.length > FEW ? units(now, names.length)
  : names.map((name) => `“${name}”`).join(" and "));

function headsSaid({ on, here }) {
  if (on.length === here) return here === 1 ? "the only head" : `all ${here} heads`;
  return on.length === 1 ? `head ${on[0]}` : `heads ${on.join(", ")}`;
}

export function sumSaid(now, names) {
  return names.length > 1 ? `sum over ${units(now, names.length)}` : "";
}

export function captionSaid(now, side, names) {
  const look = names.length > 1 ? "look" : "looks";
  const what = side ? `what looks at ${named(now, names)}` : `where ${named(now, names)} ${look}`;
  const sum = sumSaid(now, names);
  return `Layer ${now.layer}: ${what}${sum && `, ${sum}`}; weights of each head, and their mean`;
}

// What is in focus, and the three tokens of the other column that matter most to it.
export function focusSaid(now, side, names, others, means) {
  if (!now.on.length) return `Layer ${now.layer}: no head is on.`;
  const most = [...means.keys()].sort((a, b) => means[b] - means[a]).slice(0, FEW).filter((i) => means[i] > 0)
    .map((i) => `“${shown(others[i].name)}” ${means[i].toFixed(2)}`).join(", ");
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

// Which rows of long columns are in sight.
export function sightSaid(rows, seen) {
  const parts = rows.map((side, i) => (seen[i][1] - seen[i][0] < side.length
    ? `${seen[i][0] + 1}–${seen[i][1]} of ${side.length}` : `all ${side.length}`));
  return parts.every((part) => part.startsWith("all")) ? "" : [...new Set(parts)].join(" and ");
}

// What is left out or rounded.
export function noteSaid(now, data, { count, drawn }, sight, focused) {
  const said = [drawn < count ? `${drawn} of ${count} lines are drawn, the strongest.` : `${count} lines.`];
  if (now.threshold) said.push(`Lines under ${now.threshold} are not drawn.`);
  if (sight) said.push(`In sight are ${sight}${focused ? "" : "; lines with both ends out of sight are not drawn"}.`);
  if (now.top_k) said.push(`Only the ${now.top_k} largest weights of each query and head count.`);
  if (now.merge_words) said.push("To a word counts the sum over its pieces, from a word the mean.");
  if (now.hide_special) said.push("Special tokens are hidden; what goes to them is not given to others.");
  if (now.sentences !== "all") said.push(`Only from sentence ${now.sentences[0]} to sentence ${now.sentences[1]}.`);
  said.push(`Weights are off by less than ${data.error}. Layers and heads are counted from 0.`);
  return said.join(" ");
}
