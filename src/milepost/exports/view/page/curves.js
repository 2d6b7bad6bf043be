// Arithmetic on one number a sentence, with the roundings of NumPy's float32 (lexical.py).

const round = Math.fround;
const K1 = 1.2;
const B = 0.75;

/** Neighbours on each side that a sentence is scored with. */
export const SCALES = [0, 1, 3];

/** Sums of each value with its neighbours on both sides, within documents. */
export function windowed(values, offsets, reach) {
  if (reach === 0) return values;
  const totals = new Float64Array(values.length + 1);
  for (let at = 0; at < values.length; at += 1) totals[at + 1] = totals[at] + values[at];
  const result = new Float32Array(values.length);
  for (let number = 0; number + 1 < offsets.length; number += 1) {
    const [first, last] = [offsets[number], offsets[number + 1]];
    for (let row = first; row < last; row += 1) {
      result[row] = totals[Math.min(row + reach + 1, last)] - totals[Math.max(row - reach, first)];
    }
  }
  return result;
}

/** Means of each value with its neighbours. */
export function averaged(values, offsets, reach) {
  const sums = windowed(values, offsets, reach);
  const sizes = windowed(new Float32Array(values.length).fill(1), offsets, reach);
  return sums.map((sum, row) => sum / sizes[row]);
}

/** Sum in double precision. */
export function sum(values) {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

export const mean = (values) => sum(values) / values.length;

/** Mean 0, deviation 1; zeros where all values are equal but for rounding. */
export function standard(values) {
  const middle = mean(values);
  let square = 0;
  let largest = 0;
  for (const value of values) {
    square += (value - middle) ** 2;
    largest = Math.max(largest, Math.abs(value));
  }
  const spread = Math.sqrt(square / values.length);
  if (spread < 1e-6 * Math.max(1, largest)) return new Float32Array(values.length);
  return values.map((value) => (value - middle) / spread);
}

/** Less the mean, in a unit. */
export function centred(values, unit) {
  const middle = mean(values);
  const scale = round(unit);
  return values.map((value) => round(value - middle) * scale);
}

/** The greatest value. */
export const greatest = (values) => values[peak(values)];

/** The place of the greatest value, the first of equal ones. */
export function peak(values) {
  let best = 0;
  for (let at = 1; at < values.length; at += 1) if (values[at] > values[best]) best = at;
  return best;
}

/** Places by value, the greatest first; equal ones stay in order. */
export function ordered(values) {
  return Uint32Array.from(values.keys()).sort((a, b) => values[b] - values[a] || a - b);
}

/** Rarity of a term over sentences. */
export function idf(frequency, sentences) {
  return Math.log(1 + (sentences - frequency + 0.5) / (frequency + 0.5));
}

/**
 * BM25 of every sentence with its neighbours, one row for each of the scales.
 *
 * @param {Map<string, Float32Array>} counts of each term in each sentence
 * @param {Float32Array} lengths terms of each sentence
 * @param {Map<string, number>} weights of the terms that are in the text
 * @param {number} usual terms of an average sentence in the whole index
 */
export function bm25(counts, lengths, offsets, weights, usual) {
  return SCALES.map((scale) => {
    const reach = windowed(lengths, offsets, scale);
    const size = round(Math.max(usual, 1e-6) * (2 * scale + 1));
    const norm = reach.map((length) => round(round(K1) * round(round(1 - B) + round(round(round(B) * length) / size))));
    const result = new Float32Array(lengths.length);
    for (const [term, weight] of weights) {
      const often = windowed(counts.get(term), offsets, scale);
      const heavy = round(weight);
      const factor = round(K1 + 1);
      for (let row = 0; row < often.length; row += 1) {
        if (often[row] === 0) continue;
        const share = round(round(heavy * often[row]) * factor);
        result[row] += round(share / Math.max(round(often[row] + norm[row]), round(1e-6)));
      }
    }
    return result;
  });
}
