"""Power means with exponents for groups of channels, on digits."""
