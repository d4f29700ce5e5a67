"""Coding agents as command lines: what to start, how it gets the prompt, what it says it cost."""

from __future__ import annotations

import json
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

#: What an agent gets to know of this process's environment, beside what it asks for.
KNOWN = ("HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "SHELL", "XDG_CONFIG_HOME")
#: Replaced by the path of the file that holds the prompt.
PROMPT = "{prompt}"


@dataclass(frozen=True)
class Agent:
    """An agent's command line.

    command: with `{prompt}` in a word, that becomes the path of a file with the prompt; without,
        the prompt comes on standard input. timeout: seconds for one try. cost: where its output
        tells dollars, `json:total_cost_usd` (a key of the last JSON object) or `regex:...` (the
        last match's first group); "" if it does not. env: names of variables it needs. state:
        files and folders it keeps its own state in, which it may write to in a sandbox.
    """

    name: str
    command: tuple[str, ...]
    timeout: float = 1800.0
    cost: str = ""
    env: tuple[str, ...] = ()
    state: tuple[str, ...] = ()


_KEYS = {
    "command": (str, list), "timeout": (int, float), "cost": (str,),
    "env": (list,), "state": (list,),
}  # fmt: skip


def find(name: str, presets: Mapping[str, Mapping[str, Any]]) -> Agent:
    """Return an agent by name: of `[tool.twinstep.agents]` in pyproject.toml, else a preset.

    UserError if there is none, or if its table says what no agent has.
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
    words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
    cost = str(table.get("cost", ""))
    kind, _, told = cost.partition(":")
    if cost and (kind not in ("json", "regex") or not told):
        raise UserError(f"{where}: cost is `json:KEY` or `regex:PATTERN`, not {cost!r}")
    if kind == "regex":
        try:
            re.compile(told)
        except re.error as error:
            raise UserError(f"{where}: {told!r} is no regular expression ({error})") from error
    env, state = (tuple(map(str, table.get(key, ()))) for key in ("env", "state"))
    return Agent(name, tuple(words), float(table.get("timeout", 1800.0)), cost, env, state)


def ask(
    agent: Agent,
    prompt: str,
    folder: Path,
    log: Path,
    more: Mapping[str, str],
    limit: float,
    around: Callable[[Path], list[str]] = lambda prompt: [],
) -> tuple[processes.Ended, float | None]:
    """Let an agent work in a folder; return how it ended and what it cost, None if unknown.

    log: where its output goes, without the values of the variables it asked for; the prompt lies
    beside it. more: further variables. limit: seconds left, which may be less than its own.
    around: returns the words of a sandbox, given the prompt's file. UserError if it cannot be
    started.
    """
    file = log.with_suffix(".md").absolute()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(prompt)
    words = [word.replace(PROMPT, str(file)) for word in agent.command]
    named = any(PROMPT in word for word in agent.command)
    env = {n: os.environ[n] for n in (*KNOWN, *agent.env) if n in os.environ}
    tools = os.path.dirname(sys.executable)
    env |= {"PATH": os.pathsep.join([tools, os.environ.get("PATH", os.defpath)]), **more}
    try:
        ended = processes.run(
            [*around(file), *words],
            folder,
            env,
            min(agent.timeout, limit),
            log,
            b"" if named else prompt.encode(),
        )
    except OSError as error:
        raise UserError(
            f"agent '{agent.name}' cannot be started: {words[0]} ({error.strerror})"
        ) from error
    secrets = [env[name] for name in agent.env if len(env.get(name, "")) > 3]
    if any(secret in ended.said for secret in secrets):
        text = log.read_text(errors="replace")
        for secret in secrets:
            text = text.replace(secret, "***")
        log.write_text(text)
    return ended, cost_of(agent.cost, ended.said)


def cost_of(how: str, said: str) -> float | None:
    """Return the dollars that an agent's output names, None if it names none. Never guessed."""
    kind, _, told = how.partition(":")
    if kind == "regex":
        found = re.findall(told, said)
        return _number(found[-1] if found else None)
    if kind != "json":
        return None
    for text in (said, *reversed(said.splitlines())):
        try:
            value = json.loads(text)
        except ValueError:
            continue
        for key in told.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if (number := _number(value)) is not None:
            return number
    return None


def _number(value: Any) -> float | None:
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
