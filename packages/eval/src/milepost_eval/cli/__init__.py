"""``milepost eval``."""
