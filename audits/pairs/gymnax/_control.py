"""The state of gymnax's classic control."""


def put(names: tuple[str, ...]):
    """Return the `place` that puts a start's vector `state` into these fields."""

    def place(state, start):
        return state.replace(**dict(zip(names, start.fields["state"], strict=True)))

    return place
