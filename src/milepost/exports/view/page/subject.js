// Ask a report without its own name (subject.py).

import { STOP_WORDS, isStopWord, terms } from "./terms.js";

const SHORTEST = 60000;
const HEAD = 2000;
const PART = 3000;
const NAME_SHARE = 0.15;
const YEAR_SHARE = 0.3;
const LOWER_SHARE = 0.02;
const SENTENCE_SHARE = 0.01;
const AMONG = 4;
const MOST = 4;
const LONGEST = 4;
const FEWEST = 2;

const WORD = /[\p{L}\p{N}][\p{L}\p{N}_&.’'-]*/gu;
const YEAR = /^(?:FY ?)?((?:19|20)\d\d)$/i;
const YEARS = /(?:19|20)\d\d/g;
const POSSESSIVE = /['’]s?$/;
const BEFORE = /(?:(?:(?<![\p{L}\p{N}_])(?:at|of|for|by|in|during|the|fiscal|financial|year|FY)(?![\p{L}\p{N}_])|,)\s*)+$/iu;
const INSIDE = /[\p{L}\p{N}_./@]$/u;
const GOES_ON = /^(?:[\p{L}\p{N}_@]|\.[\p{L}\p{N}_])/u;
const EDGES = /^[ ,:;\-–—]+|[ ,:;\-–—]+$/g;

const reports = new WeakMap();

/**
 * The question as it is asked of the reports that it names.
 *
 * @returns {{question: string, numbers: number[]} | null} without their names and years
 */
export function withinReports(scope, question, { listed }, judge) {
  const found = [];
  for (const number of candidates(scope, listed)) {
    const document = listed[number];
    if (!reports.has(document)) reports.set(document, new Report(document.points.text, judge));
    const text = shortened(question, reports.get(document));
    if (text !== question) found.push({ number, text });
  }
  if (!found.length) return null;
  const shortest = found.reduce((best, { text }) => (text.length < best.length ? text : best), found[0].text);
  return { question: shortest, numbers: found.filter(({ text }) => text === shortest).map(({ number }) => number) };
}

/** Numbers of long documents with sentences enough that hold a word which few others hold. */
function candidates(scope, listed) {
  const { numbers, offsets, counts } = scope;
  const long = numbers.filter((number) => listed[number].characters >= SHORTEST);
  if (numbers.length === 1 || !long.length) return long;
  const often = new Set();
  for (const count of counts.values()) {
    const holds = numbers.filter((_, at) => {
      let held = 0;
      for (let row = offsets[at]; row < offsets[at + 1]; row += 1) held += count[row] > 0;
      return held / (offsets[at + 1] - offsets[at]) >= SENTENCE_SHARE;
    });
    if (holds.length <= Math.max(1, Math.floor(numbers.length / AMONG))) holds.forEach((number) => often.add(number));
  }
  return long.filter((number) => often.has(number)).slice(0, MOST);
}

/** A question without the name of a report, and without its year beside that. */
function shortened(question, report) {
  if (!report.isOfAYear) return question;
  const words = [...question.matchAll(WORD)].map(({ index, 0: word }) => ({ word, start: index, end: index + word.length }));
  let [kept, at, number, hasName] = ["", 0, 0, false];
  while (number < words.length) {
    const length = report.named(question, words.slice(number, number + LONGEST));
    if (length) {
      if (!YEAR.test(words[number].word.replace(/\.+$/, ""))) hasName = true;
      kept += question.slice(at, words[number].start).replace(BEFORE, " ");
      number += length;
      at = words[number - 1].end;
    } else number += 1;
  }
  const text = (kept + question.slice(at)).split(/\s+/).filter(Boolean).join(" ")
    .replace(/\s+([?.!,])/g, "$1").replace(EDGES, "");
  return hasName && terms(text, STOP_WORDS).length >= FEWEST ? text : question;
}

class Report {
  constructor(text, judge) {
    const lower = text.toLowerCase();
    this.text = text;
    this.lower = lower.length === text.length ? lower : text;
    const head = text.slice(0, HEAD);
    const years = new Set(head.match(YEARS) ?? []);
    this.isOfAYear = judge.judge(head).english && [...years].some((year) => this.share(this.places(year)) >= YEAR_SHARE);
  }

  /** Number of words, from the first, that name the report; the longest name wins. */
  named(question, words) {
    const year = words[0].word.replace(/\.+$/, "").match(YEAR);
    if (year) return Number(this.share(this.places(year[1])) >= YEAR_SHARE);
    if (isStopWord(words[0].word)) return 0;
    for (let length = words.length; length > 0; length -= 1) {
      const name = question.slice(words[0].start, words[length - 1].end).replace(POSSESSIVE, "").replace(/\.+$/, "");
      const places = this.places(name);
      if (this.share(places) >= NAME_SHARE && this.isName(places, name.length)) return length;
    }
    return 0;
  }

  /** Where a name stands as words of its own; nowhere if not in the head. */
  places(given) {
    const name = given.toLowerCase();
    const found = [];
    let at = this.lower.indexOf(name);
    while (at >= 0 && (found.length || at < HEAD)) {
      const end = at + name.length;
      if (!INSIDE.test(this.lower.slice(Math.max(0, at - 1), at)) && !GOES_ON.test(this.lower.slice(end, end + 2))) found.push(at);
      at = this.lower.indexOf(name, end);
    }
    return found;
  }

  /** Share of the parts that hold any of the places. */
  share(places) {
    return new Set(places.map((at) => Math.floor(at / PART))).size / (this.text.length / PART);
  }

  /** Whether the text hardly ever writes it in lower case. */
  isName(places, length) {
    const lower = places.filter((at) => {
      const written = this.text.slice(at, at + length);
      return written === written.toLowerCase() && written !== written.toUpperCase();
    });
    return lower.length <= LOWER_SHARE * places.length;
  }
}
