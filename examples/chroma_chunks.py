"""Chunks of a document in Chroma, found again by the question's vector.

pip install . chromadb
python examples/chroma_chunks.py FILE "question"
"""

import sys

import chromadb
from chromadb.config import Settings

import milepost

file, question = sys.argv[1:]
encoder = milepost.load()
# For a folder: chromadb.PersistentClient("chunks.chroma", Settings(anonymized_telemetry=False))
client = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
collection = client.create_collection(
    "chunks", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
)

chunks = milepost.chunks(file, size="800c", model=encoder)
collection.add(
    ids=[f"{chunk.document}:{chunk.start}" for chunk in chunks],
    embeddings=[chunk.vector for chunk in chunks],
    documents=[chunk.text for chunk in chunks],
    metadatas=[{"start": chunk.start, "page": chunk.page or 0} for chunk in chunks],
)
found = collection.query(query_embeddings=[encoder.encode_query(question)], n_results=3)
for text, place, distance in zip(
    found["documents"][0], found["metadatas"][0], found["distances"][0], strict=True
):
    print(f"{1 - distance:.3f} from {place['start']}: {text.strip()}\n")
