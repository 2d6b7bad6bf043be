// Sentences to passages: the best ones, each with the neighbours that score nearly as well (passages.py).

import { ordered } from "./curves.js";

const SHORT = 80; // characters that a passage has at least, where its document goes on
export const LONG = 1200; // characters up to which a passage grows
const JOINED = 5; // passages that sentences beside them may join

/**
 * The best cores, each with the neighbours that score nearly as well.
 *
 * @param {Float32Array} scores of the sentences
 * @param {number[]} offsets first sentence of each document, and the number of all
 * @param {ArrayLike<number>} lengths characters of each sentence
 * @param {number} most number of passages; there may be more, up to JOINED
 * @param {number} threshold how far below the core's a neighbour's score may be
 * @param {Set<number>} banned sentences that no passage may hold
 * @param {{first: number, last: number}[] | null} cores what each passage must hold one of, see
 *   required.js; null for any sentence
 * @returns {{first: number, last: number, hits: number[]}[]} in the order of their best sentence
 */
export function expandHits(scores, offsets, lengths, most, threshold, banned, cores) {
  const starts = new Set(offsets);
  const closed = closedBorders(starts, banned);
  const taken = new Set();
  const isApart = (number) => !taken.has(number) && !joins(number, taken, starts);
  let runs = 0;
  for (const { first, last } of cores ? bestFirst(scores, cores) : sentences(scores, banned)) {
    const inside = Array.from({ length: last - first }, (_, more) => first + more);
    if (inside.every((number) => taken.has(number))) continue;
    if (runs >= Math.max(most, JOINED)) break;
    if (runs >= JOINED && !inside.every(isApart)) continue;
    if (inside.length === 1 && besideLength(lengths, first, taken, starts) >= LONG) {
      closed.add(first).add(last); // it stands beside a passage that is long enough
      continue;
    }
    let [low, high] = neighbours(scores, lengths, [first, last], closed, threshold);
    if (runs >= JOINED) [low, high] = within([low, high], [first, last], isApart);
    for (let number = low; number < high; number += 1) {
      if (taken.has(number)) continue;
      runs += 1 - joins(number, taken, starts);
      taken.add(number);
    }
  }
  return runsOf(scores, taken, starts);
}

/** As much of a grown core as joins no passage. */
function within([low, high], [from, to], isApart) {
  let [first, last] = [from, to];
  while (first > low && isApart(first - 1)) first -= 1;
  while (last < high && isApart(last)) last += 1;
  return [first, last];
}

/** Every sentence that is not banned as a core, best first. */
function* sentences(scores, banned) {
  for (const number of ordered(scores)) if (!banned.has(number)) yield { first: number, last: number + 1 };
}

/** Cores by their best sentence, best first. */
function bestFirst(scores, cores) {
  const best = new Map(cores.map((core) => [core, Math.max(...scores.subarray(core.first, core.last))]));
  return [...cores].sort((a, b) => best.get(b) - best.get(a) || a.first - b.first);
}

/** Borders that no passage grows over, each named by the sentence behind it. */
function closedBorders(starts, banned) {
  const closed = new Set(starts);
  for (const number of banned) closed.add(number).add(number + 1);
  return closed;
}

/** How many runs of what is taken a sentence stands beside, in its document. */
function joins(number, taken, starts) {
  return (taken.has(number - 1) && !starts.has(number)) + (taken.has(number + 1) && !starts.has(number + 1));
}

/** Characters of the passages on both sides of a sentence. */
function besideLength(lengths, hit, taken, starts) {
  let total = 0;
  for (let first = hit; !starts.has(first) && taken.has(first - 1); first -= 1) total += lengths[first - 1];
  for (let last = hit + 1; !starts.has(last) && taken.has(last); last += 1) total += lengths[last];
  return total;
}

/** Some sentences with the neighbours that score nearly as well as the best of them. */
function neighbours(scores, lengths, [from, to], closed, threshold) {
  let [first, last] = [from, to];
  const least = Math.fround(Math.max(...scores.subarray(first, last)) - threshold);
  let size = lengths.slice(first, last).reduce((total, length) => total + length, 0);
  for (;;) {
    const before = !closed.has(first) && scores[first - 1] >= least;
    const after = !closed.has(last) && scores[last] >= least;
    if (!(before || after) || size >= LONG) break;
    // The better side; of equal ones the later.
    if (after && !(before && scores[first - 1] > scores[last])) {
      size += lengths[last];
      last += 1;
    } else {
      first -= 1;
      size += lengths[first];
    }
  }
  for (; size < SHORT && !closed.has(last); last += 1) size += lengths[last];
  return [first, last];
}

/** Passages of the sentences taken, in the order of their best sentence. */
function runsOf(scores, taken, starts) {
  const better = (a, b) => scores[b] - scores[a] || a - b;
  const runs = [];
  for (const number of [...taken].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run && run.last === number && !starts.has(number)) {
      run.last += 1;
      run.hits.push(number);
    } else {
      runs.push({ first: number, last: number + 1, hits: [number] });
    }
  }
  for (const run of runs) run.hits.sort(better);
  return runs.sort((a, b) => better(a.hits[0], b.hits[0]));
}
