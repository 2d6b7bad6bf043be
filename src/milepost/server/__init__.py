"""The server: embeddings, search and documents over HTTP, and a page for people.

In:      an index, files to add to it, requests.
Out:     JSON, pictures of pages, and the page itself.
Refuses: to reach anything but the index it was given: no other file, no network.
Read:    ``app.py`` (how it is put together), ``starting.py`` (what answers until then),
         ``batching.py`` (texts of many requests in one run), ``guard.py`` (who may ask),
         ``routes/`` (one file for each group of addresses), ``documents/`` (what is served),
         ``mcp/`` (tools for agents).
"""
