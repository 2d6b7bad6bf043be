// The English stemmer of Snowball 3.1 (Porter 2), as documents' words are stemmed in Python.

const VOWEL = /[aeiouy]/;
const EXCEPTIONS = {
  andes: "andes", atlas: "atlas", bias: "bias", cosmos: "cosmos", early: "earli", gently: "gentl",
  howe: "howe", idly: "idl", news: "news", only: "onli", singly: "singl", skies: "sky", skis: "ski",
  sky: "sky", ugly: "ugli",
};
const BEGINNINGS = /^(?:arsen|commun|emerg|gener|inter|later|organ|past|univers)/;
const STEP_2 = [
  ["ational", "ate"], ["fulness", "ful"], ["iveness", "ive"], ["ization", "ize"], ["ousness", "ous"],
  ["biliti", "ble"], ["lessli", "less"], ["tional", "tion"], ["alism", "al"], ["aliti", "al"],
  ["ation", "ate"], ["entli", "ent"], ["fulli", "ful"], ["iviti", "ive"], ["ogist", "og"],
  ["ousli", "ous"], ["abli", "able"], ["alli", "al"], ["anci", "ance"], ["ator", "ate"],
  ["enci", "ence"], ["izer", "ize"], ["bli", "ble"], ["ogi", "og"], ["li", ""],
];
const STEP_3 = [
  ["ational", "ate"], ["tional", "tion"], ["alize", "al"], ["ative", ""], ["icate", "ic"],
  ["iciti", "ic"], ["ical", "ic"], ["ness", ""], ["ful", ""],
];
const STEP_4 = [
  "ement", "ance", "ence", "able", "ible", "ment", "ant", "ate", "ent", "ion", "ism", "iti", "ive",
  "ize", "ous", "al", "er", "ic",
];

/** The stem of a word in lower case. */
export function stem(word) {
  if (Object.hasOwn(EXCEPTIONS, word)) return EXCEPTIONS[word];
  if (word.length < 3) return word;
  let stemmed = word.replace(/^'/, "").replace(/^y/, "Y").replace(/([aeiouy])y/g, "$1Y");
  const [first, second] = regions(stemmed);
  stemmed = step1a(stemmed);
  stemmed = step1b(stemmed, first);
  stemmed = stemmed.replace(/^(.+[^aeiouy])[yY]$/, "$1i");
  stemmed = replaced(stemmed, STEP_2, first, (rest, ending) => {
    if (ending === "ogi") return rest.endsWith("l");
    return ending !== "li" || /[cdeghkmnrt]$/.test(rest);
  });
  stemmed = replaced(stemmed, STEP_3, first, (rest, ending) => ending !== "ative" || rest.length >= second);
  const ending = STEP_4.find((one) => stemmed.endsWith(one));
  if (ending) {
    const rest = stemmed.slice(0, -ending.length);
    if (rest.length >= second && (ending !== "ion" || /[st]$/.test(rest))) stemmed = rest;
  }
  return step5(stemmed, first, second).replace(/Y/g, "y");
}

/** Where the parts of a word begin in which endings may go: behind a vowel and a consonant. */
function regions(word) {
  const behind = (from) => {
    const part = /^[^aeiouy]*[aeiouy]+[^aeiouy]/.exec(word.slice(from));
    return part ? from + part[0].length : word.length;
  };
  const begun = BEGINNINGS.exec(word);
  const first = begun ? begun[0].length : behind(0);
  return [first, behind(first)];
}

function step1a(word) {
  const bare = word.replace(/(?:'s'|'s|')$/, "");
  if (/sses$/.test(bare)) return bare.slice(0, -2);
  if (/(?:ied|ies)$/.test(bare)) return bare.slice(0, -3) + (bare.length > 4 ? "i" : "ie");
  if (/(?:us|ss)$/.test(bare) || !bare.endsWith("s")) return bare;
  return VOWEL.test(bare.slice(0, -2)) ? bare.slice(0, -1) : bare;
}

function step1b(word, first) {
  const ending = /(?:eedly|ingly|edly|eed|ing|ed)$/.exec(word)?.[0];
  if (!ending) return word;
  const rest = word.slice(0, -ending.length);
  if (ending.startsWith("eed")) {
    return rest.length >= first && !/^(?:succ|proc|exc)$/.test(rest) ? `${rest}ee` : word;
  }
  if (ending === "ing") {
    if (/^[^aeiouy]y$/.test(rest)) return `${rest.slice(0, -1)}ie`;
    if (/^(?:even|cann|inn|earr|herr|out)$/.test(rest)) return word;
  }
  if (!VOWEL.test(rest)) return word;
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(rest)) return /^[aeo]..$/.test(rest) ? rest : rest.slice(0, -1);
  return rest.length === first && endsShort(rest) ? `${rest}e` : rest;
}

function endsShort(word) {
  return /[^aeiouy][aeiouy][^aeiouywxY]$/.test(word) || /^[aeiouy][^aeiouy]$/.test(word) || word.endsWith("past");
}

function replaced(word, endings, first, fits) {
  const found = endings.find(([ending]) => word.endsWith(ending));
  if (!found) return word;
  const rest = word.slice(0, -found[0].length);
  return rest.length >= first && fits(rest, found[0]) ? rest + found[1] : word;
}

function step5(word, first, second) {
  const rest = word.slice(0, -1);
  if (word.endsWith("e")) {
    return rest.length >= second || (rest.length >= first && !endsShort(rest)) ? rest : word;
  }
  return word.endsWith("l") && rest.length >= second && rest.endsWith("l") ? rest : word;
}
