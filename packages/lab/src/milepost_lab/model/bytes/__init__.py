"""Models that read bytes: no tokenizer, no unknown tokens, exact offsets in every script.

``tokenizer`` (bytes ↔ ids) and ``words`` (a text ↔ its words) are plain Python. ``span`` makes the
gaps that a byte model is trained to fill. ``stack`` has the T5 layers that they share,
``encoder`` the byte encoder-decoder (MonoByte, arXiv 2209.11035), ``word_encoder`` the front end
from bytes to words to landmarks and ``word_model`` the language model over words (arXiv
2310.11628). See docs/pooling/words.md and docs/pooling/bytes.md.
"""
