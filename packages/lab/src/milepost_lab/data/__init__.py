"""Data sets that several studies share."""
