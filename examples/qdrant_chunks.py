"""Chunks of a document in Qdrant, found again by the question's vector.

pip install . qdrant-client
python examples/qdrant_chunks.py FILE "question"
"""

import sys

from qdrant_client import QdrantClient, models

import milepost

file, question = sys.argv[1:]
encoder = milepost.load()
client = QdrantClient(":memory:")  # for a server: QdrantClient("http://localhost:6333")

client.create_collection(
    "chunks", models.VectorParams(size=encoder.dimensions, distance=models.Distance.COSINE)
)
client.upsert(
    "chunks",
    [
        models.PointStruct(
            id=number,
            vector=chunk.vector.tolist(),
            payload={"text": chunk.text, "start": chunk.start, "page": chunk.page},
        )
        for number, chunk in enumerate(milepost.chunks(file, size="800c", model=encoder))
    ],
)
vector = encoder.encode_query(question).tolist()
for found in client.query_points("chunks", vector, limit=3).points:
    print(f"{found.score:.3f} from {found.payload['start']}: {found.payload['text'].strip()}\n")
