"""The agent in navix's state."""

from twinstep import Field

AGENT = {
    "row": "state.entities.player.position[0][0]",
    "column": "state.entities.player.position[0][1]",
    "direction": "state.entities.player.direction[0]",
    "time": "t",
}


def agent_fields(rows: int, columns: int, limit: int) -> tuple[Field, ...]:
    """Return the state fields of an agent inside walls. rows, columns: of the grid with walls."""
    return (
        Field("row", "int32", low=1, high=rows - 2, step=1),
        Field("column", "int32", low=1, high=columns - 2, step=1),
        Field("direction", "int32", low=0, high=3, step=1),
        Field("time", "int32", low=0, high=limit - 1, step=1),
    )
