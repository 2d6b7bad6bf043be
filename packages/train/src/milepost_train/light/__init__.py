"""The light model: distilled from a landmark model into token vectors and two convolutions.

Comes in: the shared data and a teacher (a model folder). Goes out: a checkpoint and a model folder.

    python -m milepost_train.light --shared ../shared/data --out scratch/light

Read in this order: ``training.py`` (table, losses, steps), ``distil.py`` (all of it, from data to
folder).
"""
