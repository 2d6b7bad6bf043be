// BERT's tokenizer in lower case: a question to token ids, and how well it knows the words.

const MARK = /^[!-/:-@[-`{-~]|^\p{P}/u;
const CONTROL = /^\p{C}/u;
const SPACE = /^[\t\n\r\p{White_Space}]/u;
const ACCENT = /^\p{Mn}/u;
const LETTER = /^\p{L}/u;
const LONGEST = 100; // letters of a word that is looked up in parts
const CHINESE = [
  [0x4e00, 0x9fff], [0x3400, 0x4dbf], [0x20000, 0x2a6df], [0x2a700, 0x2b73f], [0x2b740, 0x2b81f],
  [0x2b920, 0x2ceaf], [0xf900, 0xfaff], [0x2f800, 0x2fa1f],
];
const LETTERS_UNKNOWN = 1.25; // letters a token holds on average: see encoder.py
const LETTERS_KNOWN = 3.0;

/** Tokens of words. */
export class WordPiece {
  /**
   * @param {string[]} tokens in the order of their ids
   * @param {number} unknown id of the token for what is not known
   */
  constructor(tokens, unknown) {
    this.ids = new Map(tokens.map((token, id) => [token, id]));
    this.unknown = unknown;
  }

  /** Token ids of a text, and how much of it the tokenizer knows as whole words, from 0 to 1. */
  encode(text) {
    const points = [...text.replace(/[\ud800-\udfff]/gu, "\ufffd")];
    const ids = [];
    let tokens = 0;
    let letters = 0;
    for (const word of wordsOf(points)) {
      for (const { id, from, to } of this.pieces(word)) {
        ids.push(id);
        // What a token covers of the text itself: "é" is one letter, however it is written.
        const covered = points.slice(word[from].at, word[to - 1].at + 1);
        const held = covered.filter((point) => LETTER.test(point)).length;
        if (!held) continue;
        tokens += 1;
        if (id !== this.unknown) letters += held;
      }
    }
    return { ids, coverage: coverage(tokens, letters) };
  }

  /** The longest pieces from the left. */
  pieces(word) {
    const whole = [{ id: this.unknown, from: 0, to: word.length }];
    if (word.length > LONGEST) return whole;
    const found = [];
    for (let from = 0; from < word.length; ) {
      let to = word.length;
      let id;
      for (; to > from; to -= 1) {
        const piece = word.slice(from, to).map(({ sign }) => sign).join("");
        id = this.ids.get(from ? `##${piece}` : piece);
        if (id !== undefined) break;
      }
      if (to === from) return whole;
      found.push({ id, from, to });
      from = to;
    }
    return found;
  }
}

/** Words and marks as lists of { sign, at }: a folded sign, and the place of what it was. */
function wordsOf(points) {
  const words = [];
  let word = [];
  const end = () => {
    if (word.length) words.push(word);
    word = [];
  };
  for (const { sign, at, apart } of folded(points)) {
    if (SPACE.test(sign)) end();
    else if (apart || MARK.test(sign)) {
      end();
      words.push([{ sign, at }]);
    } else word.push({ sign, at });
  }
  end();
  return words;
}

/** Without controls and accents, in lower case. */
function* folded(points) {
  for (const [at, point] of points.entries()) {
    if (SPACE.test(point)) {
      yield { sign: " ", at, apart: false };
      continue;
    }
    if (point === "\0" || point === "\ufffd" || CONTROL.test(point)) continue;
    const code = point.codePointAt(0);
    const apart = CHINESE.some(([low, high]) => low <= code && code <= high);
    for (const part of point.normalize("NFD")) {
      if (ACCENT.test(part)) continue;
      for (const sign of part.toLowerCase()) yield { sign, at, apart };
    }
  }
}

function coverage(tokens, letters) {
  if (!tokens) return 1;
  const mean = letters / tokens;
  return Math.min(1, Math.max(0, (mean - LETTERS_UNKNOWN) / (LETTERS_KNOWN - LETTERS_UNKNOWN)));
}
