"""Language models behind OpenAI-compatible endpoints.

In:      messages, the endpoint's address, the model's name, a key.
Out:     the answer's text, whole or piece by piece.
Refuses: to know documents, passages or prompts; to follow redirects, to show the key.
"""

from milepost.chat.endpoint import Endpoint as Endpoint
from milepost.chat.endpoint import Message as Message
from milepost.chat.endpoint import NoResponse as NoResponse
from milepost.chat.reading import REFUSED as REFUSED
from milepost.chat.thinking import Restart as Restart
from milepost.chat.thinking import Thought as Thought
from milepost.chat.thinking import without_thoughts as without_thoughts
