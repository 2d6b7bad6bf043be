// Citations of a sentence: where it is, and what it says.

/**
 * @typedef {object} Place
 * @property {string} title of the document
 * @property {string} quote the sentence
 * @property {string|number|null} page
 * @property {string|null} heading
 * @property {number} start offset in code points
 * @property {number} end
 */

/** One line of text. */
export function plain(place) {
  const { title, page, start, end } = place;
  return `“${oneLine(place.quote)}” ${oneLine(title)}${page ? `, p. ${page}` : ""}, characters ${start}–${end}.`;
}

/** A quotation with its source below. */
export function markdown(place) {
  const { page, start, end } = place;
  const where = `${page ? `p. ${page}, ` : ""}characters ${start}–${end}`;
  return `> ${escapedMarkdown(oneLine(place.quote))}\n>\n> — *${escapedMarkdown(oneLine(place.title))}*, ${where}`;
}

/** An entry for a bibliography, with the sentence as its note. */
export function bibtex(place) {
  const { title, page, heading, start, end } = place;
  const fields = [
    ["title", `{${escapedLatex(oneLine(title))}}`],
    ...(heading ? [["chapter", escapedLatex(oneLine(heading))]] : []),
    ...(page ? [["pages", String(page)]] : []),
    ["note", `Characters ${start}--${end}: \`\`${escapedLatex(oneLine(place.quote))}''`],
  ];
  const width = Math.max(...fields.map(([name]) => name.length));
  const lines = fields.map(([name, value]) => `  ${name.padEnd(width)} = {${value}},`);
  return `@misc{${keyOf(title)}-${start},\n${lines.join("\n")}\n}`;
}

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
