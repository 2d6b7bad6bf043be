"""One pooling explained, with a picture of its weights on a text."""
