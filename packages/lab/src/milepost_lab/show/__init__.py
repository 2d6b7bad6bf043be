"""One pooling explained."""
