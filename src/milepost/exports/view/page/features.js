// Features of a sentence, from which the trees predict that it is evidence (features.py).

import { averaged, greatest, mean, ordered, standard, sum, windowed } from "./curves.js";

/**
 * The columns for some sentences.
 *
 * @param {object} scope see search.js of the engine
 * @param {object} fused see fusion.js
 * @param {Uint32Array} rows sentence numbers
 * @param {string[]} names of the columns in order
 * @returns {Float32Array[]} one for each name
 */
export function features(scope, fused, rows, names) {
  const { score, landmarks: [lone, near, far], words } = fused;
  const { offsets } = scope;
  const around = (values, reach) => averaged(values, offsets, reach);
  const length = Float32Array.from(scope.sizes, (size) => Math.log(Math.max(1, size)));
  const wide = new Map([6, 12, 25].map((reach) => [reach, around(score, reach)]));
  const warm = score.map((value) => Math.max(value, 0));
  const cover = covered(scope);
  const parts = paragraphs(scope, score, lone);
  const whole = documents(scope, score, lone, length);
  const own = (row) => whole.of[row];
  const gap = (values, of = (row) => row) => {
    const best = greatest(values);
    return take(rows, (row) => values[of(row)] - best);
  };
  const same = (value) => take(rows, () => value);
  const columns = {
    landmark: () => pick(lone, rows),
    "landmark ±1": () => pick(near, rows),
    "landmark ±3": () => pick(far, rows),
    "landmark gap": () => gap(lone),
    "landmark ±1 gap": () => gap(near),
    cosine: () => pick(scope.similarity, rows),
    "landmark rank": () => pick(ranked(lone), rows),
    "landmark deviation": () => pick(standard(scope.similarity), rows),
    "landmark before": () => pick(shifted(lone, offsets, 1), rows),
    "landmark after": () => pick(shifted(lone, offsets, -1), rows),
    words: () => pick(words[0], rows),
    "words ±1": () => pick(words[1], rows),
    "words ±3": () => pick(words[2], rows),
    "words gap": () => gap(words[0]),
    "words ±1 gap": () => gap(words[1]),
    "words rank": () => pick(ranked(words[1]), rows),
    "words deviation": () => pick(standard(scope.lexical[1]), rows),
    covered: () => pick(cover.alone, rows),
    "covered ±1": () => pick(cover.near, rows),
    "rarest word": () => pick(cover.rarest, rows),
    fused: () => pick(score, rows),
    "fused gap": () => gap(score),
    "fused rank": () => pick(ranked(score), rows),
    before: () => pick(shifted(score, offsets, 1), rows),
    after: () => pick(shifted(score, offsets, -1), rows),
    "two before": () => pick(shifted(score, offsets, 2), rows),
    "two after": () => pick(shifted(score, offsets, -2), rows),
    "around 6": () => pick(wide.get(6), rows),
    "around 12": () => pick(wide.get(12), rows),
    "around 25": () => pick(wide.get(25), rows),
    "around 6 gap": () => gap(wide.get(6)),
    "around 12 gap": () => gap(wide.get(12)),
    "around 25 gap": () => gap(wide.get(25)),
    "warm 6": () => pick(around(warm, 6), rows),
    "warm 25": () => pick(around(warm, 25), rows),
    "landmark around 8": () => pick(around(lone, 8), rows),
    "covered around 6": () => pick(around(cover.alone, 6), rows),
    "covered around 25": () => pick(around(cover.alone, 25), rows),
    "paragraph best": () => take(rows, (row) => parts.best[parts.opened[row]]),
    "below paragraph best": () => take(rows, (row) => score[row] - parts.best[parts.opened[row]]),
    "paragraph mean": () => take(rows, (row) => parts.mean[parts.opened[row]]),
    "paragraph landmark gap": () => gap(parts.landmark, (row) => parts.opened[row]),
    "landmark below paragraph": () => take(rows, (row) => lone[row] - parts.landmark[parts.opened[row]]),
    "place in paragraph": () => take(rows, (row) => row - parts.first[parts.opened[row]]),
    "left of paragraph": () => take(rows, (row) => parts.first[parts.opened[row]] + parts.size[parts.opened[row]] - 1 - row),
    "paragraph length": () => take(rows, (row) => parts.size[parts.opened[row]]),
    "covered in paragraph": () => take(rows, (row) => cover.paragraphs[parts.opened[row]]),
    "document landmark": () => take(rows, (row) => whole.landmark[own(row)]),
    "document landmark gap": () => gap(whole.landmark, own),
    "document best gap": () => gap(whole.best, own),
    "below document best": () => take(rows, (row) => score[row] - whole.best[own(row)]),
    "document share of best": () => take(rows, (row) => whole.held[own(row)]),
    "document covered": () => take(rows, (row) => whole.covered[own(row)]),
    "document covered gap": () => gap(whole.covered, own),
    "document length": () => take(rows, (row) => Math.log(whole.size[own(row)])),
    "document sentence length": () => take(rows, (row) => whole.length[own(row)]),
    documents: () => same(Math.log(whole.size.length)),
    length: () => pick(length, rows),
    "length around 6": () => pick(around(length, 6), rows),
    "length of documents": () => same(mean(length)),
    "vocabulary coverage": () => pick(scope.coverage, rows),
    share: () => same(fused.share),
    "scale shift": () => same(fused.shift),
  };
  return names.map((name) => (columns[name] ?? (() => same(fused.signals[name])))());
}

/** A number for each of some sentences. */
const take = (rows, of) => Float32Array.from(rows, of);

const pick = (values, rows) => take(rows, (row) => values[row]);

/** Shares of the question's rarity in each sentence, beside it, and in each paragraph. */
function covered(scope) {
  const [alone, near, rarest] = [0, 1, 2].map(() => new Float32Array(scope.similarity.length));
  const opened = numbered(scope.starts);
  const parts = new Float32Array((opened.at(-1) ?? -1) + 1);
  const possible = sum(scope.idf.values());
  const most = Math.max(0, ...scope.idf.values());
  for (const [term, weight] of scope.idf) {
    if (weight <= 0) continue;
    const there = scope.counts.get(term).map((count) => (count > 0 ? 1 : 0));
    const beside = windowed(there, scope.offsets, 1);
    const held = new Float32Array(parts.length);
    const share = Math.fround(weight / possible);
    for (let row = 0; row < there.length; row += 1) {
      alone[row] += share * there[row];
      near[row] += share * (beside[row] > 0);
      if (there[row]) held[opened[row]] = 1;
      if (weight === most && there[row]) rarest[row] = 1;
    }
    for (let part = 0; part < parts.length; part += 1) parts[part] += share * held[part];
  }
  return { alone: all(alone), near: all(near), rarest, paragraphs: all(parts) };
}

/** Shares of which 1 is exact: sums are rounded differently in Python. */
const all = (shares) => shares.map((share) => (share > 0.99999 ? 1 : share));

/** How many of the best sentences tell in which documents the answer may be. */
const BEST = 20;

/** What is measured of each document. */
function documents(scope, score, lone, length) {
  const { offsets } = scope;
  const count = offsets.length - 1;
  const of = new Int32Array(score.length);
  const size = new Float32Array(count);
  for (let number = 0; number < count; number += 1) {
    of.fill(number, offsets[number], offsets[number + 1]);
    size[number] = offsets[number + 1] - offsets[number];
  }
  const averages = (values) => {
    const total = new Float64Array(count);
    values.forEach((value, row) => (total[of[row]] += value));
    return Float32Array.from(total, (sum, number) => sum / size[number]);
  };
  const best = new Float32Array(count).fill(-Infinity);
  score.forEach((value, row) => (best[of[row]] = Math.max(best[of[row]], value)));
  const covered = new Float32Array(count);
  const possible = sum(scope.idf.values());
  for (const [term, weight] of scope.idf) {
    if (weight <= 0) continue;
    const there = new Set();
    scope.counts.get(term).forEach((often, row) => often > 0 && there.add(of[row]));
    for (const number of there) covered[number] += Math.fround(weight / possible);
  }
  const held = new Float32Array(count);
  const top = ordered(score).subarray(0, BEST);
  for (const row of top) held[of[row]] += 1 / top.length;
  const landmark = count > 1 ? averages(lone) : new Float32Array(1); // one: rounding around 0
  return { of, size, best, covered: all(covered), held, landmark, length: averages(length) };
}

/** For each sentence the number of its paragraph. */
function numbered(starts) {
  let number = -1;
  return Int32Array.from(starts, (start) => (number += start));
}

/** What is measured of each paragraph. */
function paragraphs(scope, score, lone) {
  const opened = numbered(scope.starts);
  const count = (opened.at(-1) ?? -1) + 1;
  const first = new Int32Array(count).fill(-1);
  const size = new Float32Array(count);
  const total = new Float32Array(count);
  const best = new Float32Array(count).fill(-Infinity);
  const landmark = new Float32Array(count).fill(-Infinity);
  opened.forEach((part, row) => {
    if (first[part] < 0) first[part] = row;
    size[part] += 1;
    total[part] += score[row];
    best[part] = Math.max(best[part], score[row]);
    landmark[part] = Math.max(landmark[part], lone[row]);
  });
  return { opened, first, size, best, landmark, mean: total.map((sum, part) => sum / size[part]) };
}

/** The logarithm of one plus the place in the order of values. */
function ranked(values) {
  const ranks = new Float32Array(values.length);
  ordered(values).forEach((row, place) => {
    ranks[row] = Math.log1p(place);
  });
  return ranks;
}

/** The value some sentences before each one in its document, the least of all at its edge. */
function shifted(values, offsets, by) {
  const lowest = values.reduce((least, value) => Math.min(least, value), Infinity);
  const result = new Float32Array(values.length).fill(lowest);
  for (let number = 0; number + 1 < offsets.length; number += 1) {
    for (let row = offsets[number]; row < offsets[number + 1]; row += 1) {
      const from = row - by;
      if (from >= offsets[number] && from < offsets[number + 1]) result[row] = values[from];
    }
  }
  return result;
}
