"""Read Python source that anybody may have written."""

from __future__ import annotations

import ast


def parsed(source: str | bytes) -> ast.Module:
    """Return the tree of a source. SyntaxError: it is no Python, or nested too deeply to be read.

    Python's own parser raises MemoryError or RecursionError for twenty thousand signs in a row.
    """
    try:
        return ast.parse(source)
    except (MemoryError, RecursionError) as error:
        raise SyntaxError("it is nested too deeply") from error
    except ValueError as error:
        raise SyntaxError(str(error)) from error
