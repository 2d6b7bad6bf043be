// Words in quotation marks and words behind a minus sign: what a passage must and must not hold (operators.py).

import { hasWord, spaced, stripped, trimmedEnd } from "./characters.js";

const WORD = "[\\p{L}\\p{N}_]";
const SEEN = "[^\\p{White_Space}\\x1c-\\x1f]";
const PHRASE = new RegExp(
  `(?<minus>(?<!${SEEN})-)?`
  + "(?:“(?<english>[^“”]+)”|„(?<german>[^„“”\"]+)[“”\"]|«(?<french>[^«»]+)»|»(?<danish>[^«»]+)«"
  // A straight mark behind a word or number (5" and 6") or before a space opens nothing.
  + `|(?<!${WORD})"(?=${SEEN})(?<straight>[^"]+)(?<=${SEEN})"(?!${WORD}))`, "gu");
const MINUS = new RegExp(`(?<!${SEEN})-(?<word>[\\p{L}\\p{Nl}\\p{No}][^\\p{White_Space}\\x1c-\\x1f"“”„«»]*)`, "gu");
const TRAILING = ".,;:";
const BEHIND = ".,;:!?)]}";

/**
 * Take the operators out of a question.
 *
 * @returns {{question: string, phrases: string[], excluded: string[]}} the question without marks,
 *   minus signs and excluded words, and what a passage must and must not hold, each once
 */
export function readOperators(text) {
  const phrases = new Set();
  const excluded = new Set();
  const leftOut = (part) => part.replace(MINUS, (all, word) => {
    const kept = trimmedEnd(word, BEHIND);
    if (/^[a-z]$/i.test(kept)) return all; // an option of a command
    excluded.add(kept);
    return word.slice(kept.length);
  });
  const take = (found) => {
    const { minus, ...marked } = found.groups;
    const inner = stripped(Object.values(marked).find((each) => each !== undefined));
    const phrase = trimmedEnd(inner, TRAILING);
    if (!hasWord(phrase)) return found[0];
    if (minus) {
      excluded.add(phrase);
      return " ";
    }
    phrases.add(phrase);
    return inner;
  };
  // Phrases first: a minus sign inside of one is a part of it.
  const pieces = [];
  let at = 0;
  for (const found of text.matchAll(PHRASE)) {
    pieces.push(leftOut(text.slice(at, found.index)), take(found));
    at = found.index + found[0].length;
  }
  pieces.push(leftOut(text.slice(at)));
  if (!phrases.size && !excluded.size) return { question: text, phrases: [], excluded: [] };
  return { question: spaced(pieces.join("")), phrases: [...phrases], excluded: [...excluded] };
}
