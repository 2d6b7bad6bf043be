"""MonoByte: a pool of byte models pre-trained alike on different corpora (arXiv 2209.11035)."""
