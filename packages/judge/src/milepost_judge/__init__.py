"""Holds the folder of the model ``landmark-judge``; Milepost finds it here."""
