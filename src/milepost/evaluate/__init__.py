"""Whether the evidence comes back.

Comes in: spans returned, spans marked. Goes out: figures. ``metrics.py`` defines them.
"""
