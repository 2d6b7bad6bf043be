"""``milepost mcp install``: the files of clients, and what stays in them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="needs the mcp extra")

from click.testing import CliRunner, Result

from milepost.cli.program import program

CONFIGS = {
    "claude-code": (".mcp.json", "mcpServers"),
    "vscode": (".vscode/mcp.json", "servers"),
    "cursor": ("home/.cursor/mcp.json", "mcpServers"),
    "gemini": ("home/.gemini/settings.json", "mcpServers"),
    "windsurf": ("home/.codeium/windsurf/mcp_config.json", "mcpServers"),
}


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs ``milepost mcp install`` in a folder, which holds ``docs``, and a home of its own."""
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home/.config"))
    return lambda *args: CliRunner().invoke(program, ["mcp", "install", *args])


@pytest.mark.parametrize("client", CONFIGS)
def test_install_keeps_what_was_there(tmp_path: Path, install, client: str) -> None:
    place, key = CONFIGS[client]
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    before = {key: {"other": {"command": "x"}}, "theme": "dark"}
    file.write_text(json.dumps(before), encoding="utf-8")
    done = install(client, "docs", "--yes")
    assert done.exit_code == 0, done.stderr
    after = json.loads(file.read_text(encoding="utf-8"))
    added = after[key].pop("milepost")
    assert after == before
    assert added["args"][-1] == str(tmp_path / "docs")
    assert "+" in done.stdout
    assert "already has this server" in install(client, "docs", "--yes").stderr


def test_install_for_codex_keeps_comments(tmp_path: Path, install) -> None:
    import tomllib

    file = tmp_path / "home" / ".codex" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('# mine\nmodel = "o"\n\n[mcp_servers.other]\ncommand = "x"\n', encoding="utf-8")
    done = install("codex", "docs", "--yes")
    assert done.exit_code == 0, done.stderr
    text = file.read_text(encoding="utf-8")
    assert text.startswith('# mine\nmodel = "o"')
    servers = tomllib.loads(text)["mcp_servers"]
    assert servers["other"] == {"command": "x"}
    assert servers["milepost"]["args"][-1] == str(tmp_path / "docs")


def test_install_of_an_index_that_is_not_there_is_refused(tmp_path: Path, install) -> None:
    refused = install("cursor", "--db", "none", "--yes")
    assert "none is not a Milepost index" in refused.stderr
    assert not (tmp_path / ".cursor").exists()


def test_install_leaves_a_file_that_it_does_not_understand(tmp_path: Path, install) -> None:
    file = tmp_path / ".mcp.json"
    file.write_text("{ // a comment\n}", encoding="utf-8")
    done = install("claude-code", "docs", "--yes")
    assert done.exit_code == 2
    assert "was not changed" in done.stderr
    assert file.read_text(encoding="utf-8") == "{ // a comment\n}"
