// Stemmers of the scripts but the Latin one, and the first and last letter of each script: none.
// In a page, a module stands here that has those of its documents' scripts; stemmers.py writes it.

export const STEMMERS = [];
