"""The light model: distilled from a landmark model into token vectors and two convolutions.

Comes in: the shared data and a teacher (a model folder). Goes out: the folder of a run, as
``milepost train`` leaves it, and in it a model folder.

    python -m milepost_train.light --shared ../shared/data --out scratch/light
"""
