// Texts and keys that BibTeX and LaTeX take as they are meant.

// BibTeX counts braces, escaped ones too, so that those of a text need a command.
const LATEX = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "{": "\\textbraceleft{}",
  "}": "\\textbraceright{}",
};

/** A text with the signs that LaTeX would run escaped. */
export const escapedLatex = (text) => text.replace(/[\\~^{}$&#_%]/g, (sign) => LATEX[sign] ?? `\\${sign}`);

/** A key made of a title. */
export function keyOf(title) {
  const ascii = title.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-");
  return ascii.replace(/^-+|-+$/g, "").toLowerCase().slice(0, 40) || "document";
}
