// Whether a text is English, and in which script it is where it is not (language.py).

const LATIN_WORD = /[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff]+/g;
const LETTERS_A_WORD = 3;
const SHARE = 0.12;
const MARGIN = 2;
const FEWEST = 4;
const ASCII = /^[\0-\x7f]*$/;

/** The first of the keys with the greatest number. */
export const commonest = (counts) => [...counts].reduce((best, one) => (one[1] > best[1] ? one : best))[0];

/** Tells the language of texts. */
export class Judge {
  /** @param {object} facts words and ranges of letters, of the pack */
  constructor({ ranges, neutral, english, foreign }) {
    const named = Object.entries(ranges).map(([name, codes]) => `(?<${name}>[${codes}])`);
    this.beyond = new RegExp(`[^${neutral}]+`, "gu");
    this.letter = new RegExp(`${named.join("|")}|(?<other>\\p{L})`, "gu");
    this.english = new Set(english);
    this.foreign = new Set(foreign);
  }

  /**
   * @param {string} given any text
   * @param {number} fewest words that must tell
   * @returns {{english: boolean, script: string}} the script is "" where it is English or unknown
   */
  judge(given, fewest = FEWEST) {
    const text = given.normalize("NFC");
    const words = text.match(LATIN_WORD) ?? [];
    const english = words.filter((word) => this.english.has(word.toLowerCase())).length;
    const latin = words.reduce((total, word) => total + this.scoreOf(word), 0);
    const letters = new Map();
    const beyond = (text.match(this.beyond) ?? []).join("");
    for (const { groups } of beyond.matchAll(this.letter)) {
      const name = Object.keys(groups).find((each) => groups[each] !== undefined);
      letters.set(name, (letters.get(name) ?? 0) + 1);
    }
    const other = [...letters.values()].reduce((total, count) => total + count, 0) / LETTERS_A_WORD;
    const share = SHARE * (words.length + other);
    const foreign = latin + other;
    if (foreign >= Math.max(fewest, MARGIN * english + 1, share)) {
      return { english: false, script: other > latin ? commonest(letters) : "Latin" };
    }
    return { english: english >= Math.max(fewest, foreign + 1, share), script: "" };
  }

  /** How far a word tells a language other than English. */
  scoreOf(word) {
    const small = word.toLowerCase();
    if ([...word].length < 4 && word === word.toUpperCase()) return 0;
    if (this.foreign.has(small)) return 1;
    return word[0] === small[0] && !ASCII.test(word) ? 0.5 : 0;
  }
}
