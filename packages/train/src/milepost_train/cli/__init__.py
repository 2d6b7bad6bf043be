"""Commands that train, fit and export: one file for each."""
