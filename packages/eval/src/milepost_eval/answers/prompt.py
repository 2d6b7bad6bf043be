"""What a language model is sent to answer a question in a few words."""

from __future__ import annotations

from milepost.chat import Message

_BRIEFLY = "Give only the answer, in as few words as possible, and no explanation."


def messages(question: str, context: str) -> list[Message]:
    """One message; without a context the question alone.

    As in LongBench, it asks for the answer and nothing else, because F1 counts every other word
    against it.
    """
    if context:
        asked = (
            f"Answer the question from the passages below. {_BRIEFLY}\n\n"
            f"Passages:\n\n{context}\n\n"
            f"Answer the question from the passages above. {_BRIEFLY}\n\n"
        )
    else:
        asked = f"Answer the question. {_BRIEFLY}\n\n"
    return [{"role": "user", "content": f"{asked}Question: {question}\nAnswer:"}]
