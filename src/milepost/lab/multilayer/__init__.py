"""Pooling over layers and attention, on planted topics."""
