"""An explanation on the wire: the same parts as on a terminal.

Source: interface, Files and queries; host appendix A.
"""

from __future__ import annotations

from policyd.core.admission import FacetName
from policyd.explain.causes import Cause
from policyd.explain.near_misses import NearMiss
from policyd.usecases.answer import answer_json
from policyd.usecases.changes import ShownWitness
from policyd.usecases.explain_fixes import Fix, Fixes
from policyd.usecases.explain_values import Explained, ExplainedTarget, Explanation, OperationReading


def explanation_json(explanation: Explanation) -> dict[str, object]:
    """The explanation as JSON."""
    return {
        "outcome": explanation.outcome.value,
        "who": explanation.who,
        "denials": [_item(item) for item in explanation.items],
        "unrecognised": explanation.unrecognised or None,
        "notes": list(explanation.notes),
        "edition": explanation.rules.edition.value,
        "switches": dict(explanation.rules.overrides),
    }


def _item(item: Explained) -> dict[str, object]:
    verdict, denial = item.verdict, item.denial
    return {
        "sentence": item.sentence,
        "kind": item.kind,
        "shape": denial.shape if denial else None,
        "line": denial.line if denial else None,
        "count": denial.count if denial else None,
        "verdict": None
        if verdict is None
        else {
            "admitted": verdict.of(FacetName.ADMITTED).value,
            "bounded": verdict.of(FacetName.BOUNDED).value,
            "replayStable": verdict.of(FacetName.REPLAY_STABLE).value,
        },
        "operations": [_reading(reading) for reading in item.operations],
        "targets": [_target(target) for target in item.targets],
        "causes": [_cause(cause) for cause in item.causes],
        "fixes": _fixes(item.fixes),
        "notes": list(item.notes),
    }


def _reading(reading: OperationReading) -> dict[str, object]:
    told: dict[str, object] = {
        "operation": reading.operation,
        "sure": reading.how_sure,
        "why": reading.why,
        "admitted": reading.admitted.value,
        "missing": reading.missing or None,
    }
    if reading.detail is not None:
        told["sentence"] = reading.detail.sentence
        told["targets"] = [_target(target) for target in reading.detail.targets]
        told["fixes"] = _fixes(reading.detail.fixes)
    return told


def _target(told: ExplainedTarget) -> dict[str, object]:
    return {
        "target": told.text,
        "answer": answer_json(told.answer),
        "near": [_near(near) for near in told.near],
        "nearOfCeiling": [_near(near) for near in told.near_ceilings],
    }


def _near(near: NearMiss) -> dict[str, object]:
    return {
        "card": near.ref.card,
        "bound": near.ref.bound.value,
        "index": near.ref.index,
        "grant": near.ref.grant.text,
        "written": near.grant,
        "place": None
        if near.span is None
        else {"source": near.span.source, "line": near.span.line, "column": near.span.column, "path": near.span.path},
        "differing": [
            {"field": d.field, "granted": d.granted, "asked": d.asked, "remark": d.remark} for d in near.differing
        ],
    }


def _cause(cause: Cause) -> dict[str, object]:
    return {
        "cause": cause.id or None,
        "title": cause.title,
        "standing": cause.standing.value,
        "detail": cause.detail,
        "evidence": list(cause.evidence),
    }


def _fixes(fixes: Fixes) -> dict[str, object]:
    return {
        "proposed": [_fix(fix) for fix in fixes.fixes],
        "fixableInManifest": fixes.is_fixable,
        "instead": list(fixes.instead),
        "keepDenied": fixes.keep_denied or None,
        "undecided": fixes.undecided or None,
        "ask": fixes.ask or None,
    }


def _fix(fix: Fix) -> dict[str, object]:
    opened = fix.opened
    return {
        "kinds": [kind.value for kind in fix.kinds],
        "add": list(fix.lines),
        "remove": list(fix.gone),
        "patch": fix.patch.diff if fix.patch else None,
        "document": fix.patch.document if fix.patch else None,
        "alsoOpens": [_witness(witness) for witness in opened.witnesses],
        "alsoOpensMore": opened.more,
        "ends": [_witness(witness) for witness in opened.stopped],
        "undecided": list(opened.undecided),
        "otherAgents": list(opened.others),
        "ineffective": list(fix.ineffective),
        "remarks": list(fix.remarks),
    }


def _witness(witness: ShownWitness) -> dict[str, object]:
    return {"call": witness.call, "class": witness.cls, "verb": witness.verb, "cause": witness.cause}
