// The documents of the page: texts, sentences, landmarks, words.

import { SPACE_BEFORE, SPACE_BEHIND } from "./characters.js";
import { fold } from "./folding.js";
import { Points, leading } from "./points.js";

/** The documents of a pack. */
export async function readDocuments(pack) {
  const [texts, marks, lengths] = [await pack.json("texts"), await pack.json("marks"), await pack.varints("spans")];
  const listed = pack.facts.documents;
  const offsets = [0];
  const spans = new Uint32Array(2 * lengths.length);
  for (const { sentences } of listed) {
    let at = 0;
    for (let row = offsets.at(-1); row < offsets.at(-1) + sentences; row += 1) {
      spans[2 * row] = at;
      at += lengths[row];
      spans[2 * row + 1] = at;
    }
    offsets.push(offsets.at(-1) + sentences);
  }
  const bits = await pack.bytes("paragraphs");
  return new Documents({
    listed: listed.map((document, number) => ({
      ...document,
      points: new Points(texts[number]),
      marks: marks[number].map(([offset, kind, value, level]) => ({ offset, kind, value, level })),
      first: offsets[number],
    })),
    offsets,
    spans,
    sizes: lengths,
    terms: Float32Array.from(await pack.varints("lengths")),
    coverage: Float32Array.from(await pack.bytes("coverage"), (byte) => byte / Math.fround(255)),
    starts: Uint8Array.from(lengths, (_, row) => (bits[row >> 3] >> (7 - (row & 7))) & 1),
    landmarks: new Int8Array((await pack.table("landmarks")).buffer),
    scales: await pack.numbers("landmark scales", Float32Array),
    width: pack.sections.landmarks.columns,
    postings: await readPostings(pack),
  });
}

/** Term → rows that hold it, and how often. */
async function readPostings(pack) {
  const words = await pack.json("words");
  const [sizes, steps, counts] = [await pack.varints("word sizes"), await pack.varints("word rows"), await pack.varints("word counts")];
  const found = new Map();
  let at = 0;
  words.forEach((word, number) => {
    const from = at;
    at += sizes[number];
    let row = 0;
    for (let place = from; place < at; place += 1) steps[place] = row += steps[place];
    found.set(word, { rows: steps.subarray(from, at), counts: counts.subarray(from, at) });
  });
  return found;
}

class Documents {
  constructor(parts) {
    Object.assign(this, parts);
    this.usual = this.terms.reduce((total, size) => total + size, 0) / Math.max(1, this.terms.length);
  }

  /** How alike a vector and the sentences of some documents are. */
  similarity(vector, numbers) {
    const found = [];
    for (const number of numbers) {
      for (let row = this.offsets[number]; row < this.offsets[number + 1]; row += 1) {
        let total = 0;
        for (let at = 0, from = row * this.width; at < this.width; at += 1) total += this.landmarks[from + at] * vector[at];
        found.push(Math.fround(Math.fround(total) * this.scales[row]));
      }
    }
    return Float32Array.from(found);
  }

  /** One value of each sentence of some documents. */
  of(values, numbers) {
    const parts = numbers.map((number) => values.subarray(this.offsets[number], this.offsets[number + 1]));
    const joined = new values.constructor(parts.reduce((total, part) => total + part.length, 0));
    let at = 0;
    for (const part of parts) {
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  }

  /** How often the sentences of some documents hold a term. */
  counts(term, numbers) {
    const all = new Float32Array(this.terms.length);
    const posting = this.postings.get(term);
    posting?.rows.forEach((row, place) => {
      all[row] = posting.counts[place];
    });
    return this.of(all, numbers);
  }

  /** Sentences that hold a term, in all documents. */
  frequency(term) {
    return this.postings.get(term)?.rows.length ?? 0;
  }

  /** The folded text of a document, which is kept for the next question. */
  folded(number) {
    const document = this.listed[number];
    document.folded ??= fold(document.points);
    return document.folded;
  }

  /** The first sentence of a document that a place touches, and the one behind the last; from 0. */
  rows(number, start, end) {
    const spans = this.spans.subarray(2 * this.offsets[number], 2 * this.offsets[number + 1]);
    const count = spans.length / 2;
    return [leading(count, (row) => spans[2 * row + 1] <= start), leading(count, (row) => spans[2 * row] < end)];
  }

  /** The document of an id. */
  find(id) {
    return this.listed.find((document) => document.id === id);
  }

  /** A span without the white space at its edges. */
  trimmed({ points }, start, end) {
    const part = points.slice(start, end);
    const before = SPACE_BEFORE.exec(part)?.[0].length ?? 0; // white space is one unit each
    const behind = before === part.length ? 0 : SPACE_BEHIND.exec(part)?.[0].length ?? 0;
    return [start + before, end - behind];
  }

  /** The sentences that overlap a part of a document, without white space at their edges. */
  sentences(document, start, end) {
    const found = [];
    for (let row = document.first; row < document.first + document.sentences; row += 1) {
      const [from, to] = [this.spans[2 * row], this.spans[2 * row + 1]];
      if (from >= end) break;
      if (to <= start) continue;
      const [low, high] = this.trimmed(document, from, to);
      if (low < high) found.push([low, high]);
    }
    return found;
  }
}
