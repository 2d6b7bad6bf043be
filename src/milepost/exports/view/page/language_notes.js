// A note where the model does not read the language of the question or of what was found (language_notes.py).

import { commonest } from "./language.js";

const LITTLE_KNOWN = 0.5;
const CHARACTERS = 4000;
const PASSAGES = 20;
const OF_QUESTION = 2;

/**
 * What to know of a search in a language that the model does not read: one note, or none.
 *
 * @param {object} judge see language.js
 * @param {string} question
 * @param {string[]} passages their texts, best first
 * @param {object | null} reads what the model reads; null where that is not known
 * @param {object} fused its signals, and the share of the landmarks
 */
export function languageNotes(judge, question, passages, reads, { signals, share }) {
  if (reads) {
    const written = most(judge, passages);
    const note = noted(reads, written, "what was found") || noted(reads, judge.judge(question, OF_QUESTION), "the question");
    if (note) return [note];
    if (reads.scripts.includes(written.script)) return [];
  }
  const coverage = 1 - signals["out of vocabulary"];
  if (coverage >= LITTLE_KNOWN || share >= 1) return [];
  const percent = (value) => `${Math.round(100 * value)}%`;
  return [`the model hardly knows this language or notation (vocabulary coverage ${percent(coverage)}): landmarks weigh ${percent(share)}`];
}

function noted(reads, { script }, what) {
  if (!script || reads.scripts.includes(script)) return "";
  if (!reads.elsewhere.includes(script)) {
    return `no package of Milepost reads the script of ${what}: searched mostly by words`;
  }
  return `${what} is not English, which ${reads.model} reads: searched mostly by words; ${reads.remedy}`;
}

/** What most passages are written in; of short ones together, where no single one tells. */
function most(judge, passages) {
  const heads = passages.slice(0, PASSAGES).map((text) => [...text].slice(0, CHARACTERS).join(""));
  const told = heads.map((text) => judge.judge(text)).filter(({ english, script }) => english || script);
  if (!told.length) return judge.judge(heads.join("\n"));
  const counts = new Map();
  for (const { script } of told) if (script) counts.set(script, (counts.get(script) ?? 0) + 1);
  const foreign = [...counts.values()].reduce((total, count) => total + count, 0);
  if (2 * foreign < told.length) return { english: false, script: "" };
  return { english: false, script: commonest(counts) };
}
