// Citations of a sentence: where it is, and what it says.

/**
 * @typedef {object} Place
 * @property {string} title of the document
 * @property {string} quote the sentence
 * @property {string|null} place page, slide … in words
 * @property {string|null} heading
 * @property {number} start offset in code points
 * @property {number} end
 */

/** One line of text. */
export function plain(place) {
  return `“${oneLine(place.quote)}” ${oneLine(place.title)}, ${where(place)}.`;
}

/** A quotation with its source below. */
export function markdown(place) {
  const title = escapedMarkdown(oneLine(place.title));
  return `> ${escapedMarkdown(oneLine(place.quote))}\n>\n> — *${title}*, ${escapedMarkdown(where(place))}`;
}

/** An entry for a bibliography, with the sentence as its note. */
export function bibtex(place) {
  const { title, heading, start, end } = place;
  const page = /^page (\d+)$/.exec(place.place ?? "")?.[1];
  const fields = [
    ["title", `{${escapedLatex(oneLine(title))}}`],
    ...(heading ? [["chapter", escapedLatex(oneLine(heading))]] : []),
    ...(page ? [["pages", page]] : []),
    ["note", `${page ? "" : placed(place, escapedLatex)}characters ${start}--${end}: \`\`${escapedLatex(oneLine(place.quote))}''`],
  ];
  const width = Math.max(...fields.map(([name]) => name.length));
  const lines = fields.map(([name, value]) => `  ${name.padEnd(width)} = {${value}},`);
  return `@misc{${keyOf(title)}-${start},\n${lines.join("\n")}\n}`;
}

/** "p. 3, characters 10–20", "sheet Costs, row 12, characters 10–20" */
const where = (place) => `${placed(place).replace(/^page (?=\d+, $)/, "p. ")}characters ${place.start}–${place.end}`;

const placed = ({ place }, escaped = (text) => text) => (place ? `${escaped(oneLine(place))}, ` : "");

const oneLine = (text) => text.replace(/\s+/g, " ").trim();

const escapedMarkdown = (text) => text.replace(/[\\`*_[\]<>#|~&]/g, "\\$&");

// BibTeX counts braces, escaped ones too, so that those of a text need a command.
const LATEX = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "{": "\\textbraceleft{}",
  "}": "\\textbraceright{}",
};

const escapedLatex = (text) => text.replace(/[\\~^{}$&#_%]/g, (sign) => LATEX[sign] ?? `\\${sign}`);

function keyOf(title) {
  const ascii = title.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-");
  return ascii.replace(/^-+|-+$/g, "").toLowerCase().slice(0, 40) || "document";
}
