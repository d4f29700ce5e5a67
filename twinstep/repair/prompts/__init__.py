"""Prompts for coding agents, written from an environment's declaration: text in, text out.

Nothing here starts an oracle or calls a model. The same declaration and files give the same bytes.
A prompt has at most CAP characters and no absolute path, and shows only those parts of the
reference that the contract's `source_view` allows.
"""

from twinstep.repair.prompts.kinds import optimisation, repair, tests, translation
from twinstep.repair.prompts.length_budget import CAP
from twinstep.repair.prompts.locations import known, present

__all__ = ["CAP", "known", "optimisation", "present", "repair", "tests", "translation"]
