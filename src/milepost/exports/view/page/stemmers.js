// The stemmer of English words, and those of other scripts, each with its first and last letter: none.
// In a page, a module stands here that has those of its documents' scripts; stemmers.py writes it.

export const ENGLISH = null;
export const STEMMERS = [];
