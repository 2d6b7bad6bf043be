"""Chunks of a document in PostgreSQL with pgvector, found again by the question's vector.

pip install . pgvector 'psycopg[binary]'
python examples/pgvector_chunks.py FILE "question" postgresql://USER@HOST/DATABASE
"""

import sys

import psycopg
from pgvector.psycopg import register_vector

import milepost

file, question, address = sys.argv[1:]
encoder = milepost.load()

with psycopg.connect(address) as connection:
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    register_vector(connection)
    connection.execute(
        "CREATE TABLE IF NOT EXISTS milepost_chunks (document text, start int, page int,"
        f" text text, vector vector({encoder.dimensions}), PRIMARY KEY (document, start))"
    )
    chunks = milepost.chunks(file, size="800c", model=encoder)
    connection.execute("DELETE FROM milepost_chunks WHERE document = %s", [chunks[0].document])
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO milepost_chunks VALUES (%s, %s, %s, %s, %s)",
            [(each.document, each.start, each.page, each.text, each.vector) for each in chunks],
        )
    found = connection.execute(
        "SELECT 1 - (vector <=> %(v)s), start, text FROM milepost_chunks"
        " ORDER BY vector <=> %(v)s LIMIT 3",
        {"v": encoder.encode_query(question)},
    )
    for score, start, text in found:
        print(f"{score:.3f} from {start}: {text.strip()}\n")
