"""Replay a report: run its case again on both sides and rebuild the report."""

from __future__ import annotations

from typing import Any

from twinstep.compare.arrays import Rules
from twinstep.compare.rounding import relaxed, tolerant
from twinstep.diagnosis import report
from twinstep.diagnosis.case import Case
from twinstep.diagnosis.diagnose import diagnose
from twinstep.diagnosis.report import Context
from twinstep.environment import Variant
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, Pair
from twinstep.reference.process import OracleProcess
from twinstep.runner.runner import Runner


def replay(record: dict[str, Any]) -> dict[str, Any] | None:
    """Return the record as rebuilt now, or None if both sides agree now.

    Raises UserError if the record's environment, candidate or contract is missing or its case does
    not fit, and CandidateBroken if the candidate cannot answer.
    """
    if not report.has_case(record):
        sentence = report.headline(record)
        raise UserError(f"report {record['id']} has no case to ask again: {sentence}")
    subject = _subject(record)
    env = subject.env
    candidates = {ref.name: ref for ref in env.candidates}
    if record["candidate"] not in candidates:
        raise registry.unknown(f"candidate of {env.name}", record["candidate"], candidates)
    case = Case.from_json(record["case"], subject.contract)
    pair = Pair(subject, candidates[record["candidate"]])
    runner = Runner.of(pair)
    rules = Rules.of(
        subject.contract,
        candidate=record["candidate"],
        dtype=runner.dtype,
        platform=runner.platform,
    )
    context = Context.from_json(record["context"])
    if context.tolerance:
        rules = tolerant(rules, subject.contract, *context.tolerance)
    rules = relaxed(rules, dict(context.relaxed))
    oracle = OracleProcess(subject)
    try:
        diagnosis = diagnose(case, oracle, runner, rules)
    finally:
        oracle.close()
    if diagnosis.answer.agrees:
        return None
    return report.build(pair, diagnosis, context)


def _subject(record: dict[str, Any]) -> EnvVariant:
    """Return a report's subject. Raises UserError if it is missing here or declared differently."""
    env, params = registry.environment(record["environment"]), record["params"]
    known = [parameter.name for parameter in env.parameters]
    for name in params:
        if name not in known:
            raise registry.unknown(f"parameter of {env.name}", name, known)
    subject = EnvVariant(env, Variant(record["variant"], params))
    try:
        version = subject.contract.version
    except (TypeError, ValueError, LookupError) as error:
        raise UserError(f"{env.name} does not take the report's parameters {params}") from error
    if version != record["contract"]:
        raise UserError(f"the report is of {record['contract']}, this twinstep has {version}")
    return subject
