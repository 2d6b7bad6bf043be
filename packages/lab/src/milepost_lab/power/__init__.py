"""Power oversubscription by priorities: POLCA (arXiv 2308.12908)."""
