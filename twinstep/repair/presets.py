"""Command lines of common coding agents, from their `--help` in November 2026.

Agents may change their flags: a table of the same name under `[tool.twinstep.agents]` in
pyproject.toml replaces a preset. All may edit files and run the checks' commands without asking;
further limits are up to their own sandbox, or to one around `twinstep repair`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PRESETS: Mapping[str, Mapping[str, Any]] = {
    # 2.1: without --allowedTools it edits but runs nothing, and reports that only in its output.
    "claude": {
        "command": "claude -p --output-format json --permission-mode acceptEdits "
        "--allowedTools 'Bash(pytest *)' 'Bash(twinstep replay *)'",
        "cost": "json:total_cost_usd",
        "env": ["ANTHROPIC_API_KEY"],
        "state": ["~/.claude", "~/.claude.json"],
        "returns": ["~/.claude/.credentials.json"],
    },
    # 0.169: reports tokens, no dollars. Without a network it retries for minutes.
    "codex": {
        "command": "codex exec --sandbox workspace-write --json -",
        "env": ["CODEX_API_KEY", "CODEX_HOME", "OPENAI_API_KEY"],
        "state": ["~/.codex"],
        "returns": ["~/.codex/auth.json"],
    },
    # 0.61: no edits in an unknown folder without --skip-trust; reports tokens.
    "gemini": {
        "command": "gemini --output-format json --approval-mode yolo --skip-trust",
        "env": ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        "state": ["~/.gemini"],
        "returns": ["~/.gemini/oauth_creds.json"],
    },
    # 1.18: reports the cost of each step, but no sum.
    "opencode": {
        "command": "opencode run --format json --auto -f {prompt} 'Do what the file asks.'",
        "env": ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
        "state": ["~/.local/share/opencode", "~/.config/opencode", "~/.cache/opencode"],
        "returns": ["~/.local/share/opencode/auth.json"],
    },
    # 0.86: edits only; it runs no command under --yes-always. Its sum is a running one.
    "aider": {
        "command": "aider --yes-always --no-auto-commits --no-dirty-commits --no-gitignore "
        "--no-check-update --no-show-release-notes --analytics-disable --no-detect-urls "
        "--disable-playwright --no-pretty --no-stream --message-file {prompt}",
        "cost": r"regex:\$([0-9.]+) session",
        "env": ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
    },
}
