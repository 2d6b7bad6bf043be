"""The folder of the model ``landmark-multilingual``, which Milepost finds by this module's place."""
