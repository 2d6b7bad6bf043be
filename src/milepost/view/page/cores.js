// Passages around cores: what passages.js does, where passages must hold a phrase (cores.py).

import { LONG, besideLength, closedBorders, joins, neighbours, runsOf } from "./passages.js";

/**
 * The best cores, each with the neighbours that score nearly as well.
 *
 * @param {Float32Array} scores of the sentences
 * @param {number[]} offsets first sentence of each document, and the number of all
 * @param {ArrayLike<number>} lengths characters of each sentence
 * @param {{first: number, last: number}[]} cores what each passage must hold one of, see required.js
 * @param {number} most maximum number of passages
 * @param {number} threshold how far below the core's a neighbour's score may be
 * @param {Set<number>} banned sentences that no passage may hold
 */
export function expandCores(scores, offsets, lengths, cores, most, threshold, banned) {
  const starts = new Set(offsets);
  const closed = closedBorders(starts, banned);
  const taken = new Set();
  let runs = 0;
  for (const { first, last } of ordered(scores, cores)) {
    if (range(first, last).every((number) => taken.has(number))) continue;
    if (runs === most) break;
    const beside = last - first === 1 && joins(first, taken, starts) > 0;
    if (beside && besideLength(lengths, first, taken, starts) >= LONG) {
      closed.add(first).add(last); // it stands beside a passage that is long enough
      continue;
    }
    for (const number of range(...neighbours(scores, lengths, [first, last], closed, threshold))) {
      if (taken.has(number)) continue;
      runs += 1 - joins(number, taken, starts);
      taken.add(number);
    }
  }
  return runsOf(scores, taken, starts);
}

const range = (first, last) => Array.from({ length: last - first }, (_, more) => first + more);

/** Cores by their best sentence, best first. */
function ordered(scores, cores) {
  const best = new Map(cores.map((core) => [core, Math.max(...scores.subarray(core.first, core.last))]));
  return [...cores].sort((a, b) => best.get(b) - best.get(a) || a.first - b.first);
}
