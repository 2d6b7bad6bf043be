"""Chunks of a document in LanceDB, found again by the question's vector.

pip install . lancedb
python examples/lancedb_chunks.py FILE "question" [FOLDER or s3://BUCKET/PATH]
"""

import sys

import lancedb

import milepost

file, question, *place = sys.argv[1:]
encoder = milepost.load()
database = lancedb.connect(place[0] if place else "chunks.lancedb")

rows = [
    {
        "vector": chunk.vector,
        "text": chunk.text,
        "document": chunk.document,
        "start": chunk.start,
        "page": chunk.page or 0,
    }
    for chunk in milepost.chunks(file, size="800c", model=encoder)
]
table = database.create_table("chunks", rows, mode="overwrite")
vector = encoder.encode_query(question)
for found in table.search(vector).distance_type("cosine").limit(3).to_list():
    print(f"{1 - found['_distance']:.3f} from {found['start']}: {found['text'].strip()}\n")
