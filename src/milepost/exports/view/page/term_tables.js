// Tables and patterns of words and numbers: none. In a page, term_tables.py writes this module.

export const TABLES = {};
export const PATTERNS = {};
