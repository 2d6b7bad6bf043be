"""Networks of the studies: poolings in torch, byte encoders, stitched encoders."""
