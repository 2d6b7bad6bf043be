"""Pooling over layers and kind of attention, on planted topics and a pre-trained encoder."""
