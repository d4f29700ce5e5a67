"""`twinstep repair`: a coding agent works on a candidate until a verdict it cannot forge.

`loop` is the algorithm, `journal` its memory. The agent works in a folder of its own (`attempt`)
and is started and ended by `project.processes`. Only files that match a candidate's `edit` globs
leave that folder. `verifier` runs the suite on these files in a fresh checkout.
"""
