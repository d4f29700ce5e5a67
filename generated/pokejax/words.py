"""Lists of names as text."""


def words(text: str) -> tuple[str, ...]:
    """Return the names that a text lists, separated by spaces."""
    return tuple(text.split())
