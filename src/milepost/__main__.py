"""``python -m milepost``."""

from milepost.cli import main

main()
