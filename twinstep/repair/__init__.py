"""`twinstep repair`: any coding agent takes a candidate to a verdict it cannot write itself.

`loop` is the algorithm, `journal` its memory. The agent works in a folder of its own (`folders`),
started and ended by `processes`; only the files that a candidate's `edit` globs name leave it.
`verifying` runs the suite in a fresh checkout with those files in it.
"""
