// Citations of a sentence: where it is, and what it says.

import { escapedLatex, keyOf } from "./latex.js";

/**
 * @typedef {object} Place
 * @property {string} document its name
 * @property {Reference|null} [reference] what a library of references knows of the document
 * @property {string} quote the sentence
 * @property {string|null} place page, slide … in words
 * @property {string|null} heading
 * @property {number} start offset in code points
 * @property {number} end
 *
 * @typedef {object} Reference
 * @property {string} title
 * @property {{family: string, given: string}[]} authors without a given name: an institution
 * @property {string|null} date YYYY, YYYY-MM or YYYY-MM-DD
 */

const LONG = 40; // words from which APA sets a quotation as a block, without quotation marks

/** One line of text. */
export function plain(place) {
  return `“${oneLine(place.quote)}” ${source(place).join(", ")}, ${where(place)}.`;
}

/** A quotation with its source below. */
export function markdown(place) {
  const { title, authors, year } = about(place);
  const names = authors.map(fullName).join(", ");
  const before = names ? `${escapedMarkdown(names)}, ` : "";
  const after = year ? `, ${year}` : "";
  return `> ${escapedMarkdown(oneLine(place.quote))}\n>\n> — ${before}*${escapedMarkdown(title)}*${after}, ${escapedMarkdown(where(place))}`;
}

/** An entry for a bibliography, with the sentence as its note. */
export function bibtex(place) {
  const { heading, start, end } = place;
  const { title, authors, year } = about(place);
  const page = pageOf(place);
  const names = authors.map(({ family, given }) => (given ? `${escapedLatex(family)}, ${escapedLatex(given)}` : `{${escapedLatex(family)}}`));
  const fields = [
    ...(names.length ? [["author", names.join(" and ")]] : []),
    ["title", `{${escapedLatex(title)}}`],
    ...(year ? [["year", year]] : []),
    ...(heading ? [["chapter", escapedLatex(oneLine(heading))]] : []),
    ...(page ? [["pages", page]] : []),
    ["note", `${page ? "" : placed(place, escapedLatex)}characters ${start}--${end}: \`\`${escapedLatex(oneLine(place.quote))}''`],
  ];
  const width = Math.max(...fields.map(([name]) => name.length));
  const lines = fields.map(([name, value]) => `  ${name.padEnd(width)} = {${value}},`);
  return `@misc{${keyOf(title)}-${start},\n${lines.join("\n")}\n}`;
}

/** The sentence as MLA quotes it, and below it the entry for the works cited. */
export function mla(place) {
  const { title, authors, year } = about(place);
  const page = pageOf(place);
  const who = named(authors, "and") || title;
  const at = page ? ` ${page}` : place.place ? `, ${oneLine(place.place)}` : "";
  const names = authors.length > 2
    ? `${reversed(authors[0])}, et al`
    : authors.map((one, number) => (number ? fullName(one) : reversed(one))).join(", and ");
  return `${quoted(place.quote, `(${who}${at})`)}\n\n${sentences([names, title, year])}`;
}

/** The sentence as APA quotes it, and below it the entry for the list of references. */
export function apa(place) {
  const { title, authors, year } = about(place);
  const page = pageOf(place);
  const dated = year || "n.d.";
  const section = place.heading ? `${oneLine(place.heading)} section` : "";
  const at = page ? `p. ${page}` : oneLine(place.place ?? "") || section;
  const cited = `(${[named(authors, "&") || title, dated, at].filter(Boolean).join(", ")})`;
  const quote = oneLine(place.quote);
  const block = quote.split(" ").length >= LONG;
  const names = listed(authors.map(initialled));
  const entry = names ? [`${ended(names)} (${dated})`, title] : [`${ended(title)} (${dated})`];
  return `${block ? `${quote} ${cited}` : quoted(quote, cited)}\n\n${sentences(entry)}`;
}

/** "p. 3, characters 10–20", "sheet Costs, row 12, characters 10–20" */
const where = (place) => `${placed(place).replace(/^page (?=\d+, $)/, "p. ")}characters ${place.start}–${place.end}`;

const placed = ({ place }, escaped = (text) => text) => (place ? `${escaped(oneLine(place))}, ` : "");

const pageOf = ({ place }) => /^page (\d+)$/.exec(place ?? "")?.[1];

/** Title, authors and year: those of the library of references, else the document's name alone. */
function about({ document, reference }) {
  return {
    title: oneLine(reference?.title || document),
    authors: reference?.authors ?? [],
    year: /^\d{4}/.exec(reference?.date ?? "")?.[0] ?? "",
  };
}

function source(place) {
  const { title, authors, year } = about(place);
  return [...authors.map(fullName), title, year].filter(Boolean);
}

/** A sentence in quotation marks; its own become single, its full stop goes behind the citation. */
function quoted(text, cited) {
  const inner = oneLine(text).replace(/[“„«]|(?<![^\s([])"/g, "‘").replace(/[”»"]/g, "’").replace(/(?<!\.)\.(’?)$/, "$1");
  return `“${inner}” ${cited}.`;
}

/** Family names in a text: all of two, the first of more. */
function named(authors, and) {
  const names = authors.map(({ family }) => family);
  return names.length > 2 ? `${names[0]} et al.` : names.join(` ${and} `);
}

const fullName = ({ family, given }) => [given, family].filter(Boolean).join(" ");

const reversed = ({ family, given }) => [family, given].filter(Boolean).join(", ");

/** "Darwin, C. R." */
function initialled({ family, given }) {
  const letters = given.split(/\s+/).filter(Boolean).map((name) => name.split("-").filter(Boolean).map((part) => `${[...part][0]}.`).join("-"));
  return [family, letters.join(" ")].filter(Boolean).join(", ");
}

/** All authors; of more than twenty the first nineteen and the last, as APA wants. */
function listed(names) {
  if (names.length > 20) return `${names.slice(0, 19).join(", ")}, … ${names.at(-1)}`;
  return names.length > 1 ? `${names.slice(0, -1).join(", ")}, & ${names.at(-1)}` : names.join("");
}

const ended = (text) => (/[.?!]$/.test(text) ? text : `${text}.`);

const sentences = (parts) => parts.filter(Boolean).map(ended).join(" ");

const oneLine = (text) => text.replace(/\s+/g, " ").trim();

const escapedMarkdown = (text) => text.replace(/[\\`*_[\]<>#|~&]/g, "\\$&");
