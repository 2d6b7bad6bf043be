"""How much of what answers your own questions comes back, from Milepost and from BM25.

pip install . ./packages/eval
python examples/own_questions.py questions.jsonl

A line of the file is a question, the document (a file beside it) and the words that answer:
{"document": "handbook.pdf", "question": "Who signs leave?", "answer": "the head of office"}
"""

import sys

from milepost_eval.session import Session

session = Session(tasks=sys.argv[1:], systems=("landmark", "bm25"), settings=("collection",))
for record in session.records():
    found, first = record.metrics["answer@1600"], record.metrics["mark@1"]
    print(
        f"{record.system}: of {record.questions} questions, {found:.0%} are answered within 1,600"
        f" characters, {first:.0%} by the first sentence"
    )
