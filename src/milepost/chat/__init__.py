"""A language model behind an OpenAI-compatible endpoint, for what makes or answers questions.

In:      messages, the endpoint's address, the model's name, a key.
Out:     the answer's text, whole or piece by piece.
Refuses: to know documents, passages or prompts; to follow redirects, to show the key.
Read:    ``endpoint.py`` (requests, what is tried again), ``reading.py`` (bodies and events).
"""

from milepost.chat.endpoint import Endpoint, Message, Unanswered

__all__ = ["Endpoint", "Message", "Unanswered"]
