"""Untrained and structurally pre-trained encoders as baselines for every study."""
