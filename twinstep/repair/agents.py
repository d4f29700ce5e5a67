"""Coding agents as command lines: the command, the way its prompt is passed, its reported cost."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twinstep.errors import UserError
from twinstep.project import processes, registry
from twinstep.walls.view import View, variables, walled

#: Environment variables that every agent gets, in addition to those of its table.
KNOWN = ("HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "SHELL", "XDG_CONFIG_HOME")
#: Replaced by the path of the file that holds the prompt.
PROMPT = "{prompt}"
#: Bytes of an agent's output that are kept: of more, the end alone.
_LOG = 64 << 20


@dataclass(frozen=True)
class Agent:
    """An agent's command line.

    command: `{prompt}` in a word is replaced by the path of a file with the prompt; without it, the
        prompt comes on standard input. timeout: seconds for one try. cost: place of the dollars in
        its output, `json:total_cost_usd` (a key of the last JSON object) or `regex:...` (the last
        match's first group); "" if there is none. env: names of variables it needs. state: files
        and folders of its own state, of which it gets a copy behind walls. returns: JSON files
        among these that it may renew, as its key.
    """

    name: str
    command: tuple[str, ...]
    timeout: float = 1800.0
    cost: str = ""
    env: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    returns: tuple[str, ...] = ()


_KEYS = {
    "command": (str, list), "timeout": (int, float), "cost": (str,),
    "env": (list,), "state": (list,), "returns": (list,),
}  # fmt: skip


def find(name: str, presets: Mapping[str, Mapping[str, Any]]) -> Agent:
    """Return an agent by name: from `[tool.twinstep.agents]` in pyproject.toml, else a preset.

    UserError if there is none, or if its table has an unknown key or a wrong value.
    """
    own = registry.settings(Path("pyproject.toml")).get("agents", {})
    tables = dict(presets) | (own if isinstance(own, dict) else {})
    if name not in tables:
        raise registry.unknown("agent", name, tables)
    table, where = tables[name], f"[tool.twinstep.agents.{name}]"
    if not isinstance(table, Mapping) or not table.get("command"):
        raise UserError(f'{where} needs a `command`, as "my-agent --file {PROMPT}"')
    for key, value in table.items():
        if not isinstance(value, _KEYS.get(key, ())):
            known = ", ".join(_KEYS)
            raise UserError(f"{where}: `{key} = {value!r}` is not understood (known: {known})")
    command = table["command"]
    try:
        words = shlex.split(command) if isinstance(command, str) else list(map(str, command))
    except ValueError as error:
        raise UserError(f"{where}: command {command!r} is no command line ({error})") from error
    if not words or not words[0].strip():
        raise UserError(f"{where}: command {command!r} names no program")
    timeout = float(table.get("timeout", 1800.0))
    if not 0 < timeout < math.inf:
        raise UserError(f"{where}: timeout is a number of seconds above 0, not {timeout:g}")
    cost = str(table.get("cost", ""))
    kind, _, target = cost.partition(":")
    if cost and (kind not in ("json", "regex") or not target):
        raise UserError(f"{where}: cost is `json:KEY` or `regex:PATTERN`, not {cost!r}")
    if kind == "regex":
        try:
            re.compile(target)
        except re.error as error:
            raise UserError(f"{where}: {target!r} is no regular expression ({error})") from error
    lists = (tuple(map(str, table.get(key, ()))) for key in ("env", "state", "returns"))
    return Agent(name, tuple(words), timeout, cost, *lists)


def ask(
    agent: Agent,
    prompt: str,
    folder: Path,
    log: Path,
    more: Mapping[str, str],
    limit: float,
    view: Callable[[Path], View] | None = None,
) -> tuple[processes.Ended, float | None]:
    """Run an agent in a folder; return its exit and its cost in dollars, None if unknown.

    log: file of its output, with the values of its own variables masked; the prompt lies next to
    it. more: further variables. limit: seconds left, which may be less than the agent's timeout.
    view: returns what it sees behind walls, for the prompt's file; None for no walls. UserError if
    it cannot be started.
    """
    file = log.with_suffix(".md").absolute()
    file.parent.mkdir(parents=True, exist_ok=True)
    told = prompt.encode(errors="backslashreplace")
    file.write_bytes(told)
    words = [word.replace(PROMPT, str(file)) for word in agent.command]
    named = any(PROMPT in word for word in agent.command)
    env = {n: os.environ[n] for n in (*KNOWN, *agent.env) if n in os.environ}
    tools = os.path.dirname(sys.executable)
    env |= {"PATH": os.pathsep.join([tools, os.environ.get("PATH", os.defpath)]), **more}
    # Its own /tmp is all that it has of the kind.
    walls = variables(view(file)) | {"TMPDIR": "/tmp"} if view else {}
    try:
        ended = processes.run(
            walled(words) if view else words,
            folder,
            env | walls,
            min(agent.timeout, limit),
            log,
            b"" if named else told,
        )
    except OSError as error:
        raise UserError(
            f"agent '{agent.name}' cannot be started: {words[0]} ({error.strerror})"
        ) from error
    secrets = [env[name] for name in agent.env if len(env.get(name, "")) > 3]
    if log.stat().st_size > _LOG:
        log.write_text(f"(the first part of {log.stat().st_size} bytes was dropped)\n{ended.said}")
    text = log.read_text(errors="replace") if secrets else ""
    if any(secret in text for secret in secrets):
        for secret in secrets:
            text = text.replace(secret, "***")
        log.write_text(text)
    return ended, cost_of(agent.cost, ended.said)


def cost_of(how: str, said: str) -> float | None:
    """Return the dollars in an agent's output, None if there are none. Never guessed."""
    kind, _, target = how.partition(":")
    if kind == "regex":
        matches = re.findall(target, said)
        return _number(matches[-1] if matches else None)
    if kind != "json":
        return None
    for text in (said, *reversed(said.splitlines())):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        for key in target.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if (number := _number(value)) is not None:
            return number
    return None


def _number(value: Any) -> float | None:
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
