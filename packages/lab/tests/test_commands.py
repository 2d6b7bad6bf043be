"""All studies by their commands."""

from milepost_lab.command import lab


def test_the_table_of_studies_says_what_they_say():
    for name, (_, text) in lab.table.items():
        command = lab.get_command(None, name)
        assert command.name == name
        assert command.get_short_help_str(200) == text.rstrip(".") + "."
