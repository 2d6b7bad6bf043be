// What a server says to the page of `milepost serve`, said by the page itself: no request is made.

import { BadQuestion } from "./engine.js";
import { tableAt } from "./tables.js";
import { evidence } from "./words.js";

const CELLS = 64;

let engine = null;

/** An answer that is not the one wanted; its message is for people. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Answer from these documents from now on. */
export function answerFrom(loaded) {
  engine = loaded;
}

/** Whether an error only says that the page itself gave the request up. */
export const isAborted = (error) => error?.name === "AbortError";

/** What a server would give for an address. */
export async function getJson(path, signal) {
  signal?.throwIfAborted();
  const { pathname, searchParams } = new URL(path, "milepost://page");
  const [, place, id, part] = pathname.split("/").map(decodeURIComponent);
  if (place === "ready") return { read_only: true, calibrated: true, model: "landmark-light" };
  if (place !== "documents") throw new ApiError(404, "This page does not have that.");
  if (!id) return { documents: engine.documents.listed.map(summary), cursor: null };
  const document = engine.documents.find(id);
  if (!document) throw new ApiError(404, "This document is not here.");
  const start = Number(searchParams.get("start") ?? 0);
  const end = Math.min(Number(searchParams.get("end") ?? document.characters), document.characters);
  if (part === "text") return { start, end, characters: document.characters, text: document.points.slice(start, end) };
  if (part === "sentences") return { sentences: engine.documents.sentences(document, start, end) };
  return { ...summary(document), marks: document.marks };
}

/** The answer to a question. */
export async function postJson(path, { question, k, documents }, signal) {
  await new Promise((resolve) => { setTimeout(resolve); }); // what is shown meanwhile is drawn first
  signal?.throwIfAborted();
  const listed = engine.documents.listed;
  const chosen = documents ? [...listed.keys()].filter((number) => documents.includes(listed[number].id)) : null;
  let result;
  try {
    result = engine.search(question, k, chosen);
  } catch (error) {
    if (error instanceof BadQuestion) throw new ApiError(422, error.message);
    throw error;
  }
  const passages = result.passages.map(({ document, start, end, score, hits, heading, place }) => ({
    text: document.points.slice(start, end),
    id: document.id,
    document: document.name,
    reference: document.reference,
    start,
    end,
    score,
    hits,
    heading,
    place,
    table: tableAt(document, start, end, evidence({ hits })),
  }));
  const held = new Set(passages.map(({ id }) => id));
  const shown = result.relevance.filter(({ number }) => held.has(listed[number].id));
  const strips = shown.map((one) => [listed[one.number], strip(listed[one.number], one.heights)]);
  return {
    passages,
    best_score: passages[0]?.score ?? 0,
    terms: Object.fromEntries(result.terms),
    notes: result.notes,
    heat: Object.fromEntries(strips.map(([{ id }, { heat }]) => [id, heat])),
    peaks: Object.fromEntries(strips.map(([{ id }, { peaks }]) => [id, peaks])),
  };
}

/** Nothing of the page can be removed. */
export async function remove() {
  throw new ApiError(403, "This page cannot be changed.");
}

function summary({ id, name, characters, sentences, notes, reference, marks }) {
  const pages = marks.filter(({ kind }) => kind === "page").length || null;
  return { id, name, characters, sentences, notes, reference, pages, pdf: false, uploaded: false };
}

/** The best score in each part of a document, and an offset inside the sentence that has it. */
function strip(document, heights) {
  const heat = new Array(CELLS).fill(0);
  const peaks = heat.map((_, cell) => Math.floor((cell * document.characters) / CELLS));
  const { spans } = engine.documents;
  heights.forEach((height, at) => {
    const row = document.first + at;
    const middle = (spans[2 * row] + spans[2 * row + 1]) / 2;
    const cell = Math.min(CELLS - 1, Math.floor((CELLS * middle) / Math.max(1, document.characters)));
    if (height < heat[cell] || height === 0) return;
    heat[cell] = height;
    peaks[cell] = Math.floor(middle);
  });
  return { heat, peaks };
}
