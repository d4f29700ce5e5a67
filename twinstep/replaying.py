"""Replay a report: ask both sides its case again and build the report anew."""

from __future__ import annotations

from typing import Any

from twinstep import registry, report
from twinstep.cases import Case
from twinstep.compare import Rules
from twinstep.diagnose import diagnose
from twinstep.environment import Variant
from twinstep.errors import UserError
from twinstep.registry import Pair, Subject
from twinstep.report import Context
from twinstep.running import Runner
from twinstep.supervisor import OracleProcess


def replay(record: dict[str, Any]) -> dict[str, Any] | None:
    """Return the record as it comes out now, or None if both sides agree now.

    Raises UserError if the record's environment, candidate or contract is not here.
    """
    env = registry.environment(record["environment"])
    subject = Subject(env, Variant(record["variant"], record["params"]))
    known = {ref.name: ref for ref in env.candidates}
    if record["candidate"] not in known:
        raise registry.unknown(f"candidate of {env.name}", record["candidate"], known)
    if subject.contract.version != record["contract"]:
        raise UserError(
            f"the report is of {record['contract']}, this twinstep has {subject.contract.version}"
        )
    pair = Pair(subject, known[record["candidate"]])
    runner = Runner.of(pair)
    rules = Rules.of(
        subject.contract,
        candidate=record["candidate"],
        dtype=runner.dtype,
        platform=runner.platform,
    )
    oracle = OracleProcess(subject)
    try:
        case = Case.from_json(record["case"], subject.contract)
        found = diagnose(case, oracle, runner, rules)
    finally:
        oracle.close()
    if found.answer.agrees:
        return None
    return report.build(pair, rules, found, Context.from_json(record["context"]))
