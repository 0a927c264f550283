"""Pages of joined tables: the report of a trial, with what all parties know together, and that of one provider after a real run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from setveil.presence.catalog import METRICS
from setveil.presence.channel import PARTY_IN_WORDS
from setveil.presence.secure.backends import EXPERIMENTAL
from setveil.report.page import page_with_charts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TEMPLATE = "joined.html.jinja"
LOOKS = {"holds": "holds", "violated": "violated", "undecided": "part"}
"""The style of each verdict."""

OPENINGS = {
    "root": "whether the population as a whole keeps the policy: one bit, which both providers learn; without it nothing is published",
    "side": "which provider has the wider attribute in a group, and so cuts it: one bit a group, which both learn",
    "winner": "which of the cuts that were scored is the best: its place in a list that its owner shuffled, which both learn; "
    "with score = own there is none",
    "pass": "whether both parts of a cut keep all rules: one bit a group, which both learn. Its owner learns something from a cut "
    "that failed, too",
    "ids": "who is in the lower part of a cut that passed, users and dummies alike: the owner of the cut tells the other provider",
}
"""What is opened, and who learns it."""
COUNTS = {
    "b": "how many common users of each sensitive value a final group has: provider B learns it, and tells the collector",
    "c": "how many common users of each sensitive value a final group has: the collector alone learns it, and the ledgers of the providers "
    "hold no number",
}
"""The same of the counts, by the policy's `counts_to`."""


def render_joined(dossier: dict[str, Any]) -> str:
    """Return the report of a trial as HTML."""
    from setveil.presence.report.charts import QUERIES, trial_charts  # noqa: PLC0415 - loads what draws

    card = dossier["card"]
    verdicts = {verdict["guarantee"]: verdict for verdict in dossier["verdicts"]}
    promises = [_promise(one, verdicts.get(one["name"])) for one in card["guarantees"]]
    return _page(
        trial_charts(dossier),
        dossier,
        trial=True,
        name=card["method"]["name"],
        secure=card["secure_computation"],
        promises=promises,
        costs=dossier["costs"],
        table=dossier["table"],
        queries=[one for one in dossier["measurements"] if one["name"] == QUERIES],
    )


def render_run(record: dict[str, Any]) -> str:
    """Return what one provider keeps of a real run as HTML."""
    from setveil.presence.methods.dummy_users import DummyUsers  # noqa: PLC0415 - its guarantees, in words
    from setveil.presence.report.charts import run_charts  # noqa: PLC0415 - loads what draws

    verdicts = {verdict["guarantee"]: verdict for verdict in record["verdicts"]}
    promises = [
        _promise(
            {
                "name": one.name,
                "statement": one.statement,
                "checked_by": f"by {PARTY_IN_WORDS[record['role']]} alone, on what the collector published",
                **asdict(one.coverage),
            },
            verdicts.get(one.name),
        )
        for one in DummyUsers(**record["method"]).guarantees
    ]
    counts: Iterable[Mapping[str, int]] = (verdict["counts"] for verdict in record["verdicts"])
    return _page(
        run_charts(record),
        record,
        trial=False,
        name=DummyUsers.name,
        secure=record["method"]["backend"],
        promises=promises,
        costs={record["role"]: record["costs"]},
        table=next((one for one in counts if "records" in one and "groups" in one), None),
        queries=[],
    )


def _promise(promise: Mapping[str, Any], verdict: Mapping[str, Any] | None) -> dict[str, Any]:
    """Put a promise beside what its check found."""
    status = "undecided" if verdict is None else verdict["status"]
    return {**promise, "verdict": verdict, "status": status, "look": LOOKS[status]}


def _page(charts: Mapping[str, Any], told: dict[str, Any], **values: Any) -> str:
    """Fill the template of both pages."""
    words = {**OPENINGS, "counts": COUNTS[told["method"].get("counts_to", "b")]}
    openings = [(kind, number, words.get(kind, "")) for kind, number in told["openings"].items()]
    return page_with_charts(
        TEMPLATE,
        [*charts.values()],
        package=__package__,
        d=told,
        drawn=charts,
        openings=openings,
        lines=_lines(values["costs"]),
        parties=PARTY_IN_WORDS,
        experimental=EXPERIMENTAL if told["method"]["backend"] == "two-party" else "",
        notes=_notes(told.get("measurements", [])),
        **values,
    )


def _notes(measurements: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Return what people need to read the figures of each metric that was measured."""
    kinds = {one["name"]: METRICS[one["name"]] for one in measurements if one["name"] in METRICS}
    return {name: {"title": kind.title, "summary": kind.summary()} for name, kind in kinds.items()}


def _lines(costs: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, int, int, int]]:
    """Return what went over each line, once: between whom, messages, bytes to and fro."""
    found: dict[frozenset[str], tuple[str, int, int, int]] = {}
    for role, cost in costs.items():
        for peer, line in cost["traffic"].items():
            between = f"{PARTY_IN_WORDS[role]} and {PARTY_IN_WORDS[peer]}"
            messages = line["messages_sent"] + line["messages_received"]
            found.setdefault(frozenset((role, peer)), (between, messages, line["bytes_sent"], line["bytes_received"]))
    return [*found.values()]
