"""All poolings on the same states of a frozen encoder, for the same questions."""
