"""Coupled estimation: hard negatives that are unlabelled positives."""
