// One score from landmarks and words, weighed by the question's own signals (fusion.py).

import { SCALES, averaged, centred, greatest, mean, peak, standard, sum } from "./curves.js";

const LANDMARK_UNIT = 20;
const WORDS_UNIT = 10;

/**
 * Score every sentence of a scope.
 *
 * @param {object} scope see search.js of the engine
 * @param {number} coverage how well the tokenizer knows the question
 * @param {object} settings the learned numbers
 */
export function fuse(scope, coverage, settings) {
  const landmarks = SCALES.map((scale) => centred(averaged(scope.similarity, scope.offsets, scale), LANDMARK_UNIT));
  const possible = sum(scope.idf.values());
  const words = scope.lexical.map((row) => centred(row, possible > 0 ? WORDS_UNIT / possible : 0));
  const signals = measure(scope, coverage);
  const weighed = (table) => sum(Object.entries(signals).map(([name, value]) => (table[name] ?? 0) * value));
  const shift = Math.tanh(weighed(settings.scale_shift));
  let share = 1 / (1 + Math.exp(-Math.max(-30, Math.min(30, weighed(settings.gate)))));
  if (![...scope.idf.values()].some((weight) => weight > 0)) share = 1;
  const score = new Float32Array(scope.similarity.length);
  for (const [total, curves, table] of [[share, landmarks, settings.landmark], [1 - share, words, settings.words]]) {
    const logits = table.map(([base, tilt]) => base + tilt * shift);
    const mass = logits.map((logit) => Math.exp(logit - Math.max(...logits)));
    curves.forEach((curve, number) => {
      const weight = Math.fround((total * mass[number]) / sum(mass));
      for (let row = 0; row < score.length; row += 1) score[row] += Math.fround(curve[row] * weight);
    });
  }
  return { score, signals, share, shift, landmarks, words };
}

function measure(scope, coverage) {
  const [landmarks, words] = [standard(scope.similarity), standard(scope.lexical[1])];
  const [best, matched] = [peak(landmarks), peak(words)];
  const known = [...scope.idf.values()].filter((weight) => weight > 0);
  const possible = sum(known) || 1;
  return {
    always: 1,
    "landmark peak": (landmarks[best] - 4) / 2,
    "word peak": (words[matched] - 4) / 4,
    "words at landmark": words[best] / 4,
    "landmark at words": landmarks[matched] / 2,
    terms: Math.log(Math.max(1, scope.idf.size)) - 2,
    rarity: known.length ? (possible / known.length - 4) / 2 : 0,
    rarest: known.length ? (greatest(known) - 6) / 2 : 0,
    cover: scope.lexical[1][matched] / possible - 0.5,
    "out of vocabulary": 1 - Math.min(coverage, Math.fround(mean(scope.coverage))),
  };
}
