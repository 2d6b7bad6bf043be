// What a word is: the terms of a question, as lexical.py has them of sentences.

import { stem } from "./stem.js";
import { STEMMERS } from "./stemmers.js";

const LETTERS = "[\\p{L}\\p{N}]|[\\u00ad\\u0300-\\u036f\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7\\u064b-\\u065f"
  + "\\u0670\\u0900-\\u0963\\u0966-\\u0dff\\u0f71-\\u0f84\\u0f90-\\u0fbc]";
const UNSPACED = "[\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17d3\\u1100-\\u11ff\\u3005-\\u3007\\u3040-\\u30ff\\u31f0-\\u31ff"
  + "\\u3400-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\uff66-\\uff9f\\u{20000}-\\u{3ffff}]";
const GROUPS = "\\p{Nd}{1,3}(?:[\\u00a0\\u2009\\u202f'’]\\p{Nd}{3})+(?!\\p{Nd})(?:[.,]\\p{Nd}+)?";
const PERCENT = "[Pp]er ?cent|[Pp]ro[cz]ent|pour cent|por ciento|per cento";
const BEHIND = `[ \\u00a0\\u202f]?(?:[%€£¥]|(?:${PERCENT}|[Bb][Nn]|[Mm][Nn]|[Tt][Nn])(?!${LETTERS}))`;
const NUMBER = `[$€£¥][ \\u00a0]?(?:${GROUPS}|\\p{Nd}+(?:[.,]\\p{Nd}+)*)(?:${BEHIND}|[MmKk])?(?!${LETTERS})`
  + `|${GROUPS}(?:${BEHIND})?|\\p{Nd}+(?:[.,]\\p{Nd}+)+(?:${BEHIND})?|\\p{Nd}+${BEHIND}`;
const PARTS = /^([$€£¥]?)[ \u00a0]?(\p{Nd}(?:[\p{Nd}.,\u00a0\u2009\u202f'’]*\p{Nd})?)[ \u00a0\u202f]?(.*)$/u;
const THOUSANDS = /^[1-9]\p{Nd}{0,2}(?:(?:,\p{Nd}{3})+(?:\.\p{Nd}+)?|(?:\.\p{Nd}{3})+(?:,\p{Nd}+)?)$/u;
const CURRENCIES = { $: "dollar", "€": "euro", "£": "pound", "¥": "yen" };
const SCALES = { k: "thousand", m: "million", mn: "million", bn: "billion", tn: "trillion" };
const TOKEN = new RegExp(
  `(?<run>${UNSPACED}+)|(?<number>${NUMBER})`
  + `|(?<word>(?:(?!${UNSPACED})(?:${LETTERS}))+(?:['’](?:${LETTERS}){1,2}(?!${LETTERS}))?)`, "gu");
const IGNORED = /[\u00ad\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u0652\u0656-\u065f\u0670]/gu;
const ASCII = /^[\0-\x7f]*$/;
const CHEROKEE = /[\u13a0-\u13fd\uab70-\uabbf]/;

export const STOP_WORDS = new Set((
  "a about above after again against all also am an and any are as at be because been before "
  + "being below between both but by can could did do does doing down during each few for from "
  + "further had has have having he her here hers him his how i if in into is it its itself just me "
  + "might more most must my no nor not now of off on once only or other our out over own same "
  + "shall she should so some such than that the their them then there these they this those "
  + "through to too under until up upon very was we were what when where which while who whom whose "
  + "why will with would you your").split(" "));

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
      found.push(...amount(number));
    } else {
      const signs = [...bare(run.normalize("NFKC"))];
      for (let at = 0; at < Math.max(1, signs.length - 1); at += 1) found.push(signs.slice(at, at + 2).join(""));
    }
  }
  return found;
}

/** Whether a word is among some that are left out of questions. */
export function isStopWord(word, known = STOP_WORDS) {
  return known.has(word.toLowerCase().replaceAll("’", "'").replace(/'s$/, ""));
}

/** The terms of a number with its signs, in the order in which they are spoken. */
function amount(written) {
  const [, before, digits, behind] = PARTS.exec(written);
  const plain = plainNumber(digits.replace(/[\u00a0\u2009\u202f'’]/gu, ""));
  const found = [ASCII.test(plain) ? plain : folded(plain)];
  if (behind && !(behind in CURRENCIES)) found.push(SCALES[behind.toLowerCase()] ?? "percent");
  const money = before || (behind in CURRENCIES ? behind : "");
  if (money) found.push(folded(CURRENCIES[money]));
  return found;
}

/** Without marks of thousands and with a decimal point; three digits behind the only mark are thousands. */
function plainNumber(digits) {
  if (THOUSANDS.test(digits)) return digits.replaceAll(/[.,]/u.exec(digits)[0], "").replace(",", ".");
  return digits.replaceAll(",", digits.split(",").length === 2 && !digits.includes(".") ? "." : "");
}

/** Each term of a question with its word as it was written, the first of each. */
export function wordsOf(question) {
  const words = new Map();
  for (const { 0: word, groups } of question.matchAll(TOKEN)) {
    for (const term of terms(word, new Set())) if (!words.has(term)) words.set(term, groups.run === undefined ? word : term);
  }
  return words;
}

/** One word: case, accents, possessive, stem. */
export function folded(word) {
  let plain = word;
  if (!ASCII.test(plain)) {
    plain = plain.replaceAll("’", "'").normalize("NFKD").replace(IGNORED, "");
    plain = bare(plain.normalize("NFC"));
  }
  plain = caseless(plain).replace(/'s$/, "").replaceAll("'", "");
  if (ASCII.test(plain)) return plain.length > 3 ? stem(plain) : plain;
  const within = (letter, { first, last }) => first <= letter && letter <= last;
  const found = STEMMERS.find((one) => within(plain[0], one) && within(plain.at(-1), one));
  return found ? found.stemmer.stem(plain) : plain;
}

/** Without white space, as Python's split sees it. */
const bare = (text) => text.replace(/[\p{White_Space}\x1c-\x1f]+/gu, "");

/** Letter by letter: where a letter is in its word must not matter. */
const caseless = (text) => [...text].map(caselessLetter).join("");

/** As Python's casefold has it: Cherokee in upper case, all else in lower case. */
export function caselessLetter(sign) {
  if (sign === "ı") return sign; // its upper case is that of i
  const upper = sign.toLowerCase().toUpperCase(); // ẞ is ss, as ß is
  return CHEROKEE.test(sign) ? upper : upper.toLowerCase().replaceAll("ς", "σ");
}
