// Which sentences may be in a passage, for a question with phrases and excluded words (required.py).

import { LONG } from "./passages.js";
import { occurrences, stripped } from "./verbatim.js";

const AROUND = 3; // sentences on each side of a core that get a learned score

/**
 * Where documents hold each of some phrases.
 *
 * @returns {Map<string, Map<number, [number, number][]>>} phrase → number of the document → places, ascending
 */
export function placesOf(phrases, documents, numbers) {
  return new Map(phrases.map((phrase) => {
    const given = stripped(phrase);
    const found = numbers.map((number) => [number, occurrences(given, documents.folded(number))]);
    return [phrase, new Map(found.filter(([, places]) => places.length))];
  }));
}

/** Numbers of the documents that hold all phrases; null where none is asked for. */
export function holding(phrases) {
  if (!phrases.size) return null;
  const [first, ...others] = phrases.values();
  return [...first.keys()].filter((number) => others.every((held) => held.has(number)));
}

/** How many places hold each phrase. */
export const counted = (phrases) => new Map([...phrases].map(([phrase, held]) => [
  phrase, [...held.values()].reduce((total, places) => total + places.length, 0),
]));

/**
 * What the operators of a question leave of a scope.
 *
 * @returns {{banned: Set<number>, cores: object[] | null, ranked: Uint8Array, blocked: boolean}} the
 *   sentences that hold something excluded; what each passage must hold one of, null where no phrase
 *   is asked for; which sentences are worth a learned score; whether there would be cores if nothing
 *   were excluded
 */
export function required(scope, documents, phrases, excluded) {
  const size = scope.offsets.at(-1);
  const banned = new Set();
  const cores = [];
  const searched = phrases.size || excluded.size ? scope.numbers : [];
  searched.forEach((number, at) => {
    const first = scope.offsets[at];
    const rows = ([start, end]) => documents.rows(number, start, end).map((row) => row + first);
    for (const held of excluded.values()) {
      for (const place of held.get(number) ?? []) {
        const [low, high] = rows(place);
        for (let row = low; row < high; row += 1) banned.add(row);
      }
    }
    for (const window of windows([...phrases.values()].map((held) => held.get(number) ?? []))) {
      const [low, high] = rows(window);
      cores.push({ first: low, last: high, start: window[0] });
    }
  });
  const ranked = new Uint8Array(size);
  if (!phrases.size) {
    for (let row = 0; row < size; row += 1) ranked[row] = !banned.has(row);
    return { banned, cores: null, ranked, blocked: banned.size === size };
  }
  const allowed = smallest(cores.filter(({ first, last }) => !some(banned, first, last)));
  for (const { first, last } of allowed) {
    const owner = scope.offsets.findLastIndex((offset) => offset <= first);
    const [low, high] = [Math.max(scope.offsets[owner], first - AROUND), Math.min(scope.offsets[owner + 1], last + AROUND)];
    for (let row = low; row < high; row += 1) ranked[row] = !banned.has(row);
  }
  return { banned, cores: allowed, ranked, blocked: cores.length > 0 && !allowed.length };
}

/**
 * What the operators did, for users; nothing where there are none.
 *
 * @param {object | null} found what `required` says; null where no document holds all phrases
 * @param {boolean} passages whether there are any
 */
export function operatorNotes(phrases, excluded, found, passages) {
  if (!phrases.size && !excluded.size) return [];
  const missing = [...phrases].filter(([, held]) => !held.size).map(([phrase]) => phrase);
  if (missing.length) return [`${listed(missing)} ${missing.length === 1 ? "is" : "are"} not in the text`];
  const [wanted, left] = [[...phrases.keys()], [...excluded.keys()]];
  if (!found) return [`no document holds ${listed(wanted)}`];
  const said = [];
  if (found.blocked) said.push(`${listed(left, "or")} is in every place that could be a passage`);
  else if (!passages) said.push(`no passage holds ${listed(wanted)}: ${found.cores?.length ? "the budget is too small" : "they are too far apart"}`);
  else if (wanted.length) said.push(`every passage holds ${listed(wanted)}`);
  if (left.length) {
    const count = found.banned.size;
    said.push(`no passage holds ${listed(left, "or")}: ${count.toLocaleString("en-US")} sentence${count === 1 ? "" : "s"} left out`);
  }
  return said;
}

/** Words in quotation marks, with commas. */
function listed(words, last = "and") {
  const quoted = words.map((word) => `"${word}"`);
  return [quoted.slice(0, -1).join(", "), quoted.at(-1)].filter(Boolean).join(` ${last} `);
}

/** The shortest stretches of a document that hold one place of each phrase. */
function windows(held) {
  const limit = Math.max(LONG, ...held.filter((places) => places.length).map(([[start, end]]) => 2 * (end - start)));
  const events = held.flatMap((places, phrase) => places.map(([start, end]) => ({ start, end, phrase })));
  events.sort((a, b) => a.start - b.start || a.end - b.end || a.phrase - b.phrase);
  const latest = new Map();
  const found = [];
  for (const event of events) {
    latest.set(event.phrase, event);
    if (latest.size < held.length) continue;
    const start = Math.min(...[...latest.values()].map((each) => each.start));
    const end = Math.max(...[...latest.values()].map((each) => each.end));
    if (held.length === 1 || end - start <= limit) found.push([start, end]);
  }
  return found;
}

/** Cores in order, without those that hold another one. */
function smallest(cores) {
  const kept = [];
  for (const core of [...cores].sort((a, b) => a.first - b.first || b.last - a.last || b.start - a.start)) {
    while (kept.length && core.last <= kept.at(-1).last) kept.pop(); // it begins no later and ends no earlier
    kept.push(core);
  }
  return kept;
}

function some(rows, first, last) {
  for (let row = first; row < last; row += 1) if (rows.has(row)) return true;
  return false;
}
