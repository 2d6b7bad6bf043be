// A question to passages: the search of Milepost on the documents of this page (searcher.py).

import { hasWord } from "./characters.js";
import { bm25, greatest, idf, ordered } from "./curves.js";
import { readDocuments } from "./documents.js";
import { features } from "./features.js";
import { fuse } from "./fusion.js";
import { Judge } from "./language.js";
import { readNetwork } from "./network.js";
import { readOperators } from "./operators.js";
import { expandHits } from "./passages.js";
import { counted, holding, operatorNotes, placesOf, required } from "./required.js";
import { questionTerms, wordsOf } from "./terms.js";
import { withinReports } from "./subject.js";
import { readTrees } from "./trees.js";
import { languageNotes } from "./language_notes.js";
import { WordPiece } from "./wordpiece.js";
import { markAt, placeAt } from "./words.js";

const LEARNED_TOP = 600; // sentences that get a learned score

/** A question that cannot be asked; its message is for people. */
export class BadQuestion extends Error {}

/** The search of a pack. */
export async function readEngine(pack) {
  const { unknown } = pack.facts.model;
  const tokens = (await pack.text("tokens")).split("\n");
  return new Engine({
    model: pack.facts.model,
    tokenizer: new WordPiece(tokens, unknown),
    network: await readNetwork(pack),
    trees: await readTrees(pack),
    documents: await readDocuments(pack),
    judge: new Judge(pack.facts.language),
  });
}

class Engine {
  constructor(parts) {
    Object.assign(this, parts);
  }

  /**
   * The question's tokens, terms, vocabulary coverage and vector.
   *
   * @throws {BadQuestion} it is empty, has neither letter nor digit, or is too long
   */
  read(question) {
    if (!hasWord(question)) throw new BadQuestion("The question has neither letter nor digit. Ask in words.");
    const read = this.words(question);
    const { longest, landmark } = this.model;
    const size = read.ids.length;
    if (size > longest) throw new BadQuestion(`The question is too long for this page: ${size} tokens, and it reads ${longest}. Ask in fewer words.`);
    return { ...read, vector: this.network.encode([...read.ids, landmark]) };
  }

  /** The tokens, terms and vocabulary coverage of a text. */
  words(text) {
    return { ...this.tokenizer.encode(text), terms: questionTerms(text) };
  }

  /**
   * Find passages.
   *
   * @param {string} question
   * @param {number} most maximum number of passages
   * @param {number[] | null} chosen numbers of the documents to search, ascending; null for all
   */
  search(question, most, chosen = null) {
    const asked = readOperators(question);
    if (asked.excluded.length && !hasWord(asked.question)) throw new BadQuestion("The question only says what passages must not hold. Ask for something as well.");
    let query = { ...this.read(asked.question), text: question, question: asked.question };
    let scope = this.gather(query, chosen ?? this.documents.listed.map((_, number) => number));
    const plain = !asked.phrases.length && !asked.excluded.length;
    const inside = plain ? withinReports(scope, question, this.documents, this.judge) : null;
    const within = inside ? { ...query, text: inside.question, question: inside.question, vector: this.read(inside.question).vector } : null;
    if (inside && inside.numbers.length === scope.numbers.length) [query, scope] = [within, this.gather(within, inside.numbers)];
    const phrases = placesOf(asked.phrases, this.documents, scope.numbers);
    const numbers = holding(phrases);
    const possible = !numbers || numbers.length > 0;
    const excluded = possible ? placesOf(asked.excluded, this.documents, numbers ?? scope.numbers) : new Map();
    const must = possible ? required(scope, this.documents, phrases, excluded) : null;
    let result = must?.ranked.includes(1)
      ? this.ranked(scope, query, most, must)
      : { passages: [], signals: {}, terms: scope.idf, notes: [], relevance: [] };
    if (within && query !== within) {
      const part = this.gather(within, inside.numbers);
      result = joined(result, this.ranked(part, within, most, required(part, this.documents, phrases, excluded)), inside.numbers.map((number) => this.documents.listed[number]), most);
    }
    const notes = [...operatorNotes(phrases, excluded, must, result.passages.length > 0), ...result.notes];
    return { ...result, notes, phrases: counted(phrases), excluded: counted(excluded) };
  }

  /** Rank the sentences of a scope and make passages of them; `must` says what operators leave. */
  ranked(scope, query, most, must) {
    const fused = fuse(scope, query.coverage, this.model.fusion);
    const score = this.rank(scope, fused, must.ranked);
    const threshold = this.model.fusion.growth_threshold;
    const runs = expandHits(score, scope.offsets, scope.sizes, most, threshold, must.banned, must.cores);
    const mass = logMass(score);
    const found = runs.map((run) => this.passage(scope, score, run, mass)).filter(Boolean);
    const passages = found.sort((a, b) => b.score - a.score).slice(0, most);
    const texts = passages.map(({ document, start, end }) => document.points.slice(start, end));
    const notes = [...languageNotes(this.judge, query.text, texts, this.model.reads, fused), ...missingWords(query.question, scope.idf)];
    return { passages, signals: fused.signals, terms: scope.idf, notes, relevance: relevance(scope, fused.score) };
  }

  /** Measure the question against the sentences of some documents. */
  gather({ vector, terms }, numbers) {
    const { documents } = this;
    const offsets = [0];
    for (const number of numbers) offsets.push(offsets.at(-1) + documents.listed[number].sentences);
    const rarity = new Map();
    const counts = new Map();
    const known = new Map();
    for (const term of terms) {
      const frequency = documents.frequency(term);
      rarity.set(term, frequency ? idf(frequency, documents.terms.length) : 0);
      counts.set(term, documents.counts(term, numbers));
      if (rarity.get(term) > 0) known.set(term, rarity.get(term));
    }
    return {
      numbers,
      offsets,
      sizes: documents.of(documents.sizes, numbers),
      similarity: documents.similarity(vector, numbers),
      lexical: bm25(counts, documents.of(documents.terms, numbers), offsets, known, documents.usual),
      coverage: documents.of(documents.coverage, numbers),
      starts: documents.of(documents.starts, numbers),
      idf: rarity,
      counts,
    };
  }

  /** The log-odds of every sentence; only those in `among` get a learned score. */
  rank(scope, fused, among) {
    const rows = ordered(fused.score).filter((row) => among[row]).slice(0, LEARNED_TOP).sort();
    const names = this.model.features;
    const columns = features(scope, fused, rows, names);
    const learned = this.trees.predict(columns);
    ["fused", "paragraph best"].forEach((name, number) => {
      const weight = Math.fround(this.model.fusion.base_score_weight[number]);
      const column = columns[names.indexOf(name)];
      for (let at = 0; at < learned.length; at += 1) learned[at] += Math.fround(weight * column[at]);
    });
    const best = Math.fround(1 + greatest(fused.score));
    const lowest = learned.reduce((least, value) => Math.min(least, value), Infinity);
    const small = Math.fround(1e-3);
    const score = fused.score.map((value) => lowest - Math.fround(small * Math.fround(best - value)));
    rows.forEach((row, at) => {
      score[row] = learned[at];
    });
    return score;
  }

  /** A run of sentences as a passage; null where it is white space alone. */
  passage(scope, score, { first, last, hits }, mass) {
    const owner = scope.offsets.findLastIndex((offset) => offset <= first);
    const document = this.documents.listed[scope.numbers[owner]];
    const shift = document.first - scope.offsets[owner];
    const { spans } = this.documents;
    const [start, end] = this.documents.trimmed(document, spans[2 * (first + shift)], spans[2 * (last - 1 + shift) + 1]);
    if (start === end) return null;
    const shown = [];
    for (const row of hits) {
      const low = Math.max(start, spans[2 * (row + shift)]);
      const high = Math.min(end, spans[2 * (row + shift) + 1]);
      if (low < high) shown.push({ row, start: low, end: high });
    }
    const likely = this.probability(scope, score, shown.map(({ row }) => row), mass);
    for (const hit of shown) hit.score = likely * Math.exp(score[hit.row] - score[shown[0].row]);
    return {
      document,
      start,
      end,
      score: likely,
      hits: shown,
      heading: markAt(document.marks, "heading", shown[0].start),
      place: placeAt(document.marks, shown[0].start),
    };
  }

  /** The probability that one of some sentences holds evidence: search/ranking.py. */
  probability(scope, score, rows, mass) {
    const [best, ...others] = rows.map((row) => score[row]).sort((a, b) => b - a);
    const rest = others.reduce((total, each) => total + logistic(each), 0);
    const share = Math.min(1, rows.reduce((total, row) => total + Math.exp(score[row] - mass), 0));
    const characters = rows.reduce((total, row) => total + scope.sizes[row], 0);
    const part = characters / Math.max(1, scope.sizes.reduce((total, size) => total + size, 0));
    const size = Math.min(Math.max(part, 1e-4), 0.95);
    const [base, slope, more, ofShare, ofSize] = this.model.fusion.calibration;
    const odds = base + slope * best + more * Math.log1p(rest) + ofShare * share;
    return logistic(odds + ofSize * Math.log(size / (1 - size)));
  }
}

/** Take the passages of the documents that a question names from the search of these alone. */
function joined(result, named, documents, most) {
  const others = result.passages.filter(({ document }) => !documents.includes(document));
  const numbers = new Set(named.relevance.map(({ number }) => number));
  return {
    ...result,
    passages: [...named.passages, ...others].sort((a, b) => b.score - a.score).slice(0, most),
    relevance: [...result.relevance.filter(({ number }) => !numbers.has(number)), ...named.relevance],
  };
}

/** A note of the words that are not in the text, as the user wrote them. */
function missingWords(question, idf) {
  const words = wordsOf(question);
  const missing = new Set([...idf].filter(([term, weight]) => weight <= 0 && words.has(term)).map(([term]) => words.get(term)));
  return missing.size ? [`not in the text: ${[...missing].join(", ")}`] : [];
}

/** ln Σ e^score of the best sentences. */
function logMass(score) {
  const top = score.slice().sort((a, b) => b - a).slice(0, LEARNED_TOP);
  return top[0] + Math.log(top.reduce((total, each) => total + Math.exp(each - top[0]), 0));
}

const logistic = (value) => 1 / (1 + Math.exp(-Math.max(-60, Math.min(60, value))));

/** For each document its number, and the score of each sentence on a scale from 0 to 1. */
function relevance(scope, score) {
  const best = Math.fround(Math.max(greatest(score), 1e-6));
  return scope.numbers.map((number, at) => ({
    number,
    heights: score.slice(scope.offsets[at], scope.offsets[at + 1]).map((value) => Math.min(1, Math.max(0, value / best))),
  }));
}
