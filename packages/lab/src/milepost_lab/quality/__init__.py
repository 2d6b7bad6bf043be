"""How well vectors separate labels, and what changes with another model."""
