"""Questions from the terminal, answered by a language model from the passages of a folder.

pip install . openai
OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_API_KEY=none \
    python examples/openai_rag.py FOLDER MODEL
"""

import sys

from openai import OpenAI

import milepost

RULES = "Answer from the numbered passages only; cite them like [1]. If they do not answer, say so."

folder, model = sys.argv[1:]
client = OpenAI()
with milepost.open() as index:
    index.add(folder)
    print("Ask, one question a line.", flush=True)
    for question in filter(None, map(str.strip, sys.stdin)):
        passages = index.search(question, budget="4000c", min_score=0.2)
        if not passages:
            print("Nothing in the folder is about this.\n")
            continue
        numbered = [f"[{n}] {each.text.strip()}" for n, each in enumerate(passages, 1)]
        content = "\n\n".join([*numbered, question])
        completion = client.chat.completions.create(
            model=model,
            messages=[{"role": "system", "content": RULES}, {"role": "user", "content": content}],
        )
        print(completion.choices[0].message.content)
        for number, passage in enumerate(passages, 1):
            print(f"[{number}] {passage.document} {passage.start}-{passage.end}")
