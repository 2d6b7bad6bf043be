"""All studies by their commands."""

import click

from milepost_lab.command import STUDIES, lab


def test_the_table_of_studies_says_what_they_say():
    for name, (_, text) in lab.table.items():
        command = lab.get_command(None, name)
        assert command.name == name
        assert command.get_short_help_str(200) == text.rstrip(".") + "."


def commands(group):
    for name in group.list_commands(None):
        below = group.get_command(None, name)
        yield from commands(below) if isinstance(below, click.Group) else [below]


def test_no_seed_is_below_0():
    found = [option for each in commands(lab) for option in each.params if option.name == "seed"]
    assert len(found) > len(STUDIES) // 2
    assert all(option.type.min == 0 for option in found)
