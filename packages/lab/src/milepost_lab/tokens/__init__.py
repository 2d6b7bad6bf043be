"""Words from spelling, byte encoders, and typing errors."""
