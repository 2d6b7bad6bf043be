"""Holds the folder of the model ``landmark-multilingual``; Milepost finds it here."""
