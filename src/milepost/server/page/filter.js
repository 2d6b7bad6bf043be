// Which documents are searched, by what is known of them: kind, author and date.

/** A filter that every document passes. */
export const NO_FILTER = { kind: "", author: "", from: "", until: "" };

const DATE = /^\d{4}(-\d\d){0,2}$/;

/** The filter of some fields, given by name; what makes no sense is left out. */
export function filterOf(field) {
  const date = (name) => (DATE.test(field(name).trim()) ? field(name).trim() : "");
  const text = (name) => field(name).trim().slice(0, 200);
  return { kind: text("kind"), author: text("author"), from: date("from"), until: date("until") };
}

/** A filter as the server reads it; "" for none. */
export function whereOf({ kind, author, from, until }) {
  const tests = [
    kind && `kind = ${quoted(kind)}`,
    author && `author contains ${quoted(author)}`,
    from && `date >= ${from}`,
    until && `date <= ${until}`,
  ];
  return tests.filter(Boolean).join(" and ");
}

const quoted = (text) => `"${text.replace(/[\\"]/g, "\\$&")}"`;

/** Whether a document passes a filter, as the server understands it. */
export function passes(document, { kind, author, from, until }) {
  const { date = "" } = document.properties ?? {};
  const first = `${date}-01-01`.slice(0, 10); // a year or a month counts as its first day
  return (!kind || kindOf(document) === kind.toLowerCase())
    && (!author || authorsOf(document).some((name) => name.toLowerCase().includes(author.toLowerCase())))
    && (!from || (date && first >= `${from}-01-01`.slice(0, 10)))
    && (!until || (date && first.slice(0, until.length) <= until));
}

/** The suffix of a document's file. */
export const kindOf = ({ name }) => /\.([^./]+)$/.exec(name)?.[1].toLowerCase() ?? "";

/** The authors of a document. */
export const authorsOf = ({ properties }) => [properties?.author ?? []].flat();
