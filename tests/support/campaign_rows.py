"""Rows of a mutation campaign, as plain JSON values."""


def row_of(campaign, name):
    """Return the row of a mutant that level 1 killed."""
    mutant = next(one for one in campaign.mutants if one.id == name)
    return {
        "id": name, "path": mutant.path, "line": mutant.line, "symbol": "", "operator": "index",
        "what": mutant.what, "variant": "fs8", "class": "killed", "first": 1, "full": True,
        "kills": {"1": {"check": "c", "how": "difference", "detail": "d"}}, "seconds": {"1": 0.5},
    }  # fmt: skip


def survivor_of(campaign, name):
    """Return the row of a survivor."""
    more = {"class": "survivor", "first": 0, "kills": {}, "diff": ["-", "+"]}
    return row_of(campaign, name) | more
