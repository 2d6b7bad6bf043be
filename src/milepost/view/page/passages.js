// Sentences to passages: the best ones, each with the neighbours that score nearly as well (passages.py).

import { ordered } from "./curves.js";

const SHORT = 80; // characters that a passage has at least, where its document goes on
export const LONG = 1200; // characters up to which a passage grows

/**
 * The best hits, each with its neighbours.
 *
 * @param {Float32Array} scores of the sentences
 * @param {number[]} offsets first sentence of each document, and the number of all
 * @param {ArrayLike<number>} lengths characters of each sentence
 * @param {number} most maximum number of passages
 * @param {number} threshold how far below the hit's a neighbour's score may be
 * @param {Set<number>} banned sentences that no passage may hold
 * @returns {{first: number, last: number, hits: number[]}[]} in the order of their best sentence
 */
export function expandHits(scores, offsets, lengths, most, threshold, banned = new Set()) {
  const starts = new Set(offsets);
  const closed = closedBorders(starts, banned);
  const taken = new Set();
  let runs = 0;
  for (const hit of ordered(scores)) {
    if (taken.has(hit) || banned.has(hit)) continue;
    if (runs === most) break;
    if (joins(hit, taken, starts) && besideLength(lengths, hit, taken, starts) >= LONG) {
      closed.add(hit).add(hit + 1); // it stands beside a passage that is long enough
      continue;
    }
    const [first, last] = neighbours(scores, lengths, [hit, hit + 1], closed, threshold);
    for (let number = first; number < last; number += 1) {
      if (taken.has(number)) continue;
      runs += 1 - joins(number, taken, starts);
      taken.add(number);
    }
  }
  return runsOf(scores, taken, starts);
}

/** Borders that no passage grows over, each named by the sentence behind it. */
export function closedBorders(starts, banned) {
  const closed = new Set(starts);
  for (const number of banned) closed.add(number).add(number + 1);
  return closed;
}

/** How many runs of what is taken a sentence stands beside, in its document. */
export function joins(number, taken, starts) {
  return (taken.has(number - 1) && !starts.has(number)) + (taken.has(number + 1) && !starts.has(number + 1));
}

/** Characters of the passages on both sides of a sentence. */
export function besideLength(lengths, hit, taken, starts) {
  let total = 0;
  for (let first = hit; !starts.has(first) && taken.has(first - 1); first -= 1) total += lengths[first - 1];
  for (let last = hit + 1; !starts.has(last) && taken.has(last); last += 1) total += lengths[last];
  return total;
}

/** Some sentences with the neighbours that score nearly as well as the best of them. */
export function neighbours(scores, lengths, [from, to], closed, threshold) {
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
export function runsOf(scores, taken, starts) {
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
