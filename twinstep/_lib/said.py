"""What somebody else's exception says, as a text that can be printed, written and read."""

from __future__ import annotations

import traceback

#: Characters of an exception's text, and of its traceback, that are kept.
LINE, TRACE = 2000, 20_000


def text_of(error: BaseException) -> str:
    """Return an exception's text, whatever its class does."""
    try:
        text = str(error)
    except BaseException as other:  # a class of somebody else's
        text = f"(its text cannot be made: {type(other).__name__})"
    return clean(text, TRACE)


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's text."""
    return clean(text_of(error).strip().partition("\n")[0], LINE)


def trace_of(error: BaseException) -> str:
    """Return an exception's traceback, its end where it is long."""
    try:
        text = "".join(traceback.format_exception(error))
    except BaseException:
        text = "".join(traceback.format_tb(error.__traceback__))
    return clean(text[-TRACE:], TRACE)


def clean(text: str, most: int) -> str:
    """Return a text of at most so many characters in which every one can be encoded."""
    short = text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"
    return short.encode(errors="backslashreplace").decode()
