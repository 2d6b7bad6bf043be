// What a word is: the terms of a question, as milepost.language.terms has them of sentences.

import { ENGLISH, STEMMERS } from "./stemmers.js";
import { PATTERNS, TABLES } from "./term_tables.js";

const TOKEN = new RegExp(PATTERNS.token, "gu");
const IGNORED = new RegExp(PATTERNS.ignored, "gu");
const PERIOD = new RegExp(`^(?:${PATTERNS.period})$`, "u");
const PARTS = new RegExp(`^(?:${PATTERNS.parts})$`, "u");
const THOUSANDS = new RegExp(`^(?:${PATTERNS.thousands})$`, "u");
const DATE = new RegExp(PATTERNS.date, "gu");
const SPACED = new RegExp(PATTERNS.spaced, "gu");
const SAME = new Map(Object.entries(TABLES.same));
const ASCII = /^[\0-\x7f]*$/;
const CHEROKEE = /[\u13a0-\u13fd\uab70-\uabbf]/;

export const STOP_WORDS = new Set(TABLES.stopWords);

/** Distinct terms of a question without function words; with them where there is nothing else. */
export function questionTerms(question) {
  const found = terms(question, STOP_WORDS);
  return [...new Set(found.length ? found : terms(question, new Set()))];
}

/** Terms in order, without some words. */
export function terms(text, without) {
  const found = [];
  for (const { groups } of text.matchAll(TOKEN)) {
    const { run, number, word } = groups;
    if (word !== undefined) {
      const term = folded(word);
      if (term && !isStopWord(word, without)) found.push(term);
    } else if (number !== undefined) {
      found.push(...amountTerms(number));
    } else {
      const signs = [...bare(run.normalize("NFKC"))];
      for (let at = 0; at < Math.max(1, signs.length - 1); at += 1) found.push(signs.slice(at, at + 2).join(""));
    }
  }
  const held = new Set(found);
  return [...found, ...[...new Set(otherwise(text, found))].filter((form) => !held.has(form))];
}

/** What dates, periods and thousands are in one form, beside the terms of their words. */
function* otherwise(text, found) {
  for (const form of others(text)) {
    yield form;
    if (form.includes("-", 1) && form[0] !== "-") yield* [form.slice(0, 7), form.slice(0, 4)]; // the month and the year, too
  }
  for (let at = 1; at < found.length; at += 1) {
    const period = TABLES.periods[`${found[at - 1]} ${found[at]}`];
    if (period !== undefined) yield period;
  }
}

/** Whether a word is among some that are left out of questions. */
export function isStopWord(word, known = STOP_WORDS) {
  return known.has(word.toLowerCase().replaceAll("’", "'").replace(/'s$/, ""));
}

/** The terms of a number with its unit, in the order in which they are spoken. */
function amountTerms(written) {
  const { digits, value, words, isWord } = amount(written);
  return [...(isWord ? [folded(written)] : []), digits, ...(value === digits ? [] : [value]), ...words.map(folded)];
}

/** A number: its digits in one form, the same times its scale, the words of its scale and unit. */
function amount(written) {
  const period = PERIOD.exec(written);
  if (period) {
    const year = fullYear(western(period[3]));
    const words = [...(period[1] ? [`q${period[1]}`] : []), ...(period[2] ? ["fiscal"] : [])];
    return { digits: year, value: year, words, isWord: false };
  }
  const [, before, figures, behind] = PARTS.exec(written);
  const digits = plainNumber(western(figures));
  let unit = bare(behind.normalize("NFKC").toLowerCase());
  let money = bare(before ?? "").toLowerCase();
  if (unit.length > 1 && unit.at(-1) in TABLES.currencies) [money, unit] = [unit.at(-1), unit.slice(0, -1).replace(/\.+$/, "")];
  const scale = (money && TABLES.moneyScales[unit]) || TABLES.shortScales[unit] || SAME.get(unit) || unit.replace(/s$/, "");
  const words = scale in TABLES.scales ? [scale] : bareWords(TABLES.units[unit] ?? unit);
  if (money) words.push(TABLES.currencies[money] ?? money);
  const isWord = !money && /^\p{L}$/u.test(behind) && /^[0-9]+$/.test(digits);
  return { digits, value: scaled(digits, TABLES.scales[scale] ?? 0), words, isWord };
}

const bareWords = (text) => text.split(" ").filter(Boolean);

/** Digits of any script as 0 to 9. */
const western = (text) => text.replace(/[^\0-\x7f]/gu, (sign) => digitValue(sign.normalize("NFKD")) ?? sign);

function digitValue(sign) {
  if (!/^\p{Nd}$/u.test(sign)) return undefined;
  let zero = sign.codePointAt(0);
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(sign.codePointAt(0) - zero);
}

/** Without marks of thousands and with a decimal point; three digits behind the only mark are thousands. */
function plainNumber(written) {
  const digits = written.replace(/[\u00a0\u2009\u202f'’]/gu, "");
  if (THOUSANDS.test(digits)) return digits.replaceAll(/[.,]/u.exec(digits)[0], "").replace(",", ".");
  return digits.replaceAll(",", digits.split(",").length === 2 && !digits.includes(".") ? "." : "");
}

/** A number with its decimal point moved. */
function scaled(digits, power) {
  const [whole, part = "", ...more] = digits.split(".");
  if (!power || more.length) return digits;
  const moved = (whole + part.slice(0, power).padEnd(power, "0")).replace(/^0+/, "") || "0";
  return part.length > power ? `${moved}.${part.slice(power)}` : moved;
}

const fullYear = (year) => (year.length > 2 ? year : `${year >= "70" ? "19" : "20"}${year}`);

/** What a text has in another form than its words: dates, and thousands apart by spaces. */
function* others(text) {
  for (const { groups } of text.matchAll(DATE)) yield* new Set(readings(groups));
  for (const [written] of text.matchAll(SPACED)) yield written.replaceAll(" ", "");
}

/** The readings of a date. */
function* readings({ month, before, behind, year, year_first: first, second, third, one, other, sign, last }) {
  const day = before ?? behind;
  if (month !== undefined) {
    if (year || (day && /^\p{Lu}/u.test(month))) yield* dateForm(year, TABLES.months[month.toLowerCase()], day);
  } else if (first !== undefined) {
    yield* dateForm(first, Number(second), third);
  } else if (last.length === 4 || (one.length === 2 && other.length === 2)) {
    yield* dateForm(fullYear(last), Number(other), one);
    if (sign !== ".") yield* dateForm(fullYear(last), Number(one), other);
  }
}

function* dateForm(year, month, day) {
  if (month < 1 || month > 12 || Number(day ?? 1) > new Date(Date.UTC(Number(year ?? 2000), month, 0)).getUTCDate()) return;
  yield `${year ?? "-"}-${String(month).padStart(2, "0")}${day ? `-${day.padStart(2, "0")}` : ""}`;
}

/** Each term of a question with its word as it was written, the first of each; of scripts without spaces none. */
export function wordsOf(question) {
  const words = new Map();
  for (const { 0: word, groups } of question.matchAll(TOKEN)) {
    if (groups.run !== undefined) continue;
    for (const term of terms(word, new Set())) if (!words.has(term)) words.set(term, word);
  }
  return words;
}

const BARE = { ł: "l", Ł: "L", ø: "o", Ø: "O", đ: "d", Đ: "D" };

/** One word: case, accents, possessive, stem. */
export function folded(word) {
  let plain = word;
  if (!ASCII.test(plain)) {
    plain = plain.replaceAll("’", "'").normalize("NFKD").replace(IGNORED, "");
    plain = western(bare(plain.normalize("NFC"))).replace(/[łŁøØđĐ]/g, (letter) => BARE[letter]);
  }
  plain = caseless(plain).replace(/'s$/, "").replaceAll("'", "");
  plain = SAME.get(plain) ?? plain;
  if (ASCII.test(plain)) return plain.length > 3 ? ENGLISH.stem(plain) : plain;
  const within = (letter, { first, last }) => first <= letter && letter <= last;
  const found = STEMMERS.find((one) => within(plain[0], one) && within(plain.at(-1), one));
  return found ? found.stemmer.stem(plain) : plain;
}

/** Without white space, as Python's split sees it. */
const bare = (text) => text.replace(/[\p{White_Space}\x1c-\x1f]+/gu, "");

/** Letter by letter: where a letter is in its word must not matter. */
const caseless = (text) => [...text].map(caselessLetter).join("");

/** As Python's casefold has it, but ı as i: Cherokee in upper case, all else in lower case. */
export function caselessLetter(sign) {
  const upper = sign.toLowerCase().toUpperCase(); // ẞ is ss, as ß is
  return CHEROKEE.test(sign) ? upper : upper.toLowerCase().replaceAll("ς", "σ");
}
