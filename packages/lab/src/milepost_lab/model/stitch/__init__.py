"""Encoders of many sizes stitched from two (Learngene Pool, arXiv 2312.05743).

Input: a narrow and a wide auxiliary encoder, distilled from one ancestor. Output: landmark encoders
that start in the narrow one and end in the wide one, with vectors in one space.

Read in this order: ``paths.py`` (which blocks an encoder runs, and how often each is trained),
``costs.py`` (parameters and multiplications as formulas), ``affine.py`` (maps between widths),
``milepost_train.model.stitched`` (the network of one path), ``pool.py`` (all of them, sharing their
weights), ``starts.py`` (initialization of the stitches), ``folder.py`` (the pool on disk).
"""
