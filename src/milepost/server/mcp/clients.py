"""Where the clients of agents keep their list of MCP servers, in JSON or TOML."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost._paths import below_home
from milepost.errors import InputError


def _home() -> Path:
    return below_home("~", "HOME")


@dataclass(frozen=True, slots=True)
class Client:
    """A program that agents run in, and where in its configuration the servers are.

    ``title`` is its own name; ``entry`` has fields that it wants beside ``command`` and ``args``.
    """

    title: str
    file: Callable[[], Path]
    key: str = "mcpServers"
    entry: tuple[tuple[str, str], ...] = ()


def _desktop() -> Path:
    if sys.platform == "darwin":
        base = _home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        base = Path(os.environ.get("APPDATA", _home()))
    else:
        base = Path(os.environ.get("XDG_CONFIG_HOME") or _home() / ".config")
    return base / "Claude" / "claude_desktop_config.json"


CLIENTS = {
    "claude-code": Client("Claude Code, this folder", lambda: Path(".mcp.json")),
    "claude-desktop": Client("Claude Desktop", _desktop),
    "cursor": Client("Cursor", lambda: _home() / ".cursor" / "mcp.json"),
    "vscode": Client(
        "VS Code, this folder",
        lambda: Path(".vscode") / "mcp.json",
        "servers",
        entry=(("type", "stdio"),),
    ),
    "codex": Client(
        "Codex",
        lambda: Path(os.environ.get("CODEX_HOME") or _home() / ".codex") / "config.toml",
        "mcp_servers",
    ),
    "gemini": Client("Gemini CLI", lambda: _home() / ".gemini" / "settings.json"),
    "windsurf": Client("Windsurf", lambda: _home() / ".codeium" / "windsurf" / "mcp_config.json"),
}


def with_server(client: Client, text: str, name: str, command: str, args: list[str]) -> str:
    """The text of a client's configuration, empty where it has none, with one more server.

    All else stays; a server of the same name is replaced. A text that the client does not write is
    refused.
    """
    entry = {**dict(client.entry), "command": command, "args": args}
    if client.file().suffix == ".toml":
        return _toml(client, text, name, entry)
    try:
        config = json.loads(text) if text.strip() else {}
        config.setdefault(client.key, {})[name] = entry
    except (ValueError, AttributeError, TypeError):
        snippet = json.dumps({name: entry})
        raise InputError(
            f"{client.file()} is not plain JSON with an object {client.key}, and was not changed",
            f"add this under {client.key} yourself: {snippet}",
        ) from None
    return json.dumps(config, indent=2, ensure_ascii=False) + "\n"


def _toml(client: Client, text: str, name: str, entry: dict[str, Any]) -> str:
    tomlkit = require("tomlkit", extra="mcp")
    try:
        config = tomlkit.parse(text)
        if client.key not in config:
            config[client.key] = tomlkit.table(is_super_table=True)
        table = tomlkit.table()
        table.update(entry)
        config[client.key][name] = table
    except (tomlkit.exceptions.TOMLKitError, TypeError) as error:
        raise InputError(
            f"{client.file()} is not TOML with a table {client.key}: {error}",
            "correct it, or add the server yourself",
        ) from None
    written: str = tomlkit.dumps(config)
    return written
