"""Report pages of joined tables: one for a trial, with the knowledge of all parties, and one for a provider after a real run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from setveil.presence.catalog import METRICS
from setveil.presence.channel import PARTY_NAMES
from setveil.presence.secure.backends import EXPERIMENTAL
from setveil.report.metric_rows import metric_groups
from setveil.report.page import page_with_charts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TEMPLATE = "joined.html.jinja"
STATUS_STYLES = {"holds": "holds", "violated": "violated", "undecided": "part"}
"""The CSS class of each status."""

OPENINGS = {
    "root": "whether the whole population satisfies the policy: one bit, for both providers; if it does not, nothing is published",
    "side": "which provider has the wider attribute in a group and so owns the cut: one bit per group, for both providers",
    "winner": "the best of the scored cuts: its position in a list that the owner of the cut shuffled, for both providers; "
    "not opened with score = own",
    "pass": "whether both parts of a cut satisfy all limits: one bit per group, for both providers. A failed cut also reveals something "
    "to its owner",
    "ids": "the ids in the lower part of a cut that passed, of users and dummies: the owner of the cut sends them to the other provider",
}
"""What each kind of opening reveals, and to which party."""
COUNTS = {
    "b": "the number of common users with each sensitive value in a final group: provider B learns it and sends it to the collector",
    "c": "the number of common users with each sensitive value in a final group: only the collector learns it, and the providers' lists of "
    "openings contain no number",
}
"""What the openings of counts reveal, by the policy's `counts_to`."""


def render_joined(dossier: dict[str, Any]) -> str:
    """Return the report of a trial as HTML."""
    from setveil.presence.report.charts import QUERIES, trial_charts  # noqa: PLC0415 - imports the chart libraries

    card = dossier["card"]
    verdicts = {verdict["guarantee"]: verdict for verdict in dossier["verdicts"]}
    guarantees = [_with_verdict(one, verdicts.get(one["name"])) for one in card["guarantees"]]
    return _page(
        trial_charts(dossier),
        dossier,
        trial=True,
        name=card["method"]["name"],
        secure=card["secure_computation"],
        guarantees=guarantees,
        costs=dossier["costs"],
        table=dossier["table"],
        queries=[one for one in dossier["measurements"] if one["name"] == QUERIES],
    )


def render_run(record: dict[str, Any]) -> str:
    """Return the report of one provider about a real run as HTML."""
    from setveil.presence.methods.dummy_users import DummyUsers  # noqa: PLC0415 - only for the texts of its guarantees
    from setveil.presence.report.charts import run_charts  # noqa: PLC0415 - imports the chart libraries

    verdicts = {verdict["guarantee"]: verdict for verdict in record["verdicts"]}
    guarantees = [
        _with_verdict(
            {
                "name": one.name,
                "statement": one.statement,
                "checked_by": f"by {PARTY_NAMES[record['role']]} alone, on the table that the collector published",
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
        guarantees=guarantees,
        costs={record["role"]: record["costs"]},
        table=next((one for one in counts if "records" in one and "groups" in one), None),
        queries=[],
    )


def _with_verdict(guarantee: Mapping[str, Any], verdict: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a guarantee with the verdict of its check and its status."""
    status = "undecided" if verdict is None else verdict["status"]
    return {**guarantee, "verdict": verdict, "status": status, "look": STATUS_STYLES[status]}


def _page(charts: Mapping[str, Any], content: dict[str, Any], **values: Any) -> str:
    """Fill the template of both pages; `content` is a dossier or the record of a run."""
    meanings = {**OPENINGS, "counts": COUNTS[content["method"].get("counts_to", "b")]}
    openings = [(kind, number, meanings.get(kind, "")) for kind, number in content["openings"].items()]
    return page_with_charts(
        TEMPLATE,
        [*charts.values()],
        package=__package__,
        d=content,
        drawn=charts,
        openings=openings,
        lines=_lines(values["costs"]),
        parties=PARTY_NAMES,
        experimental=EXPERIMENTAL if content["method"]["backend"] == "two-party" else "",
        measured=_measured(content.get("measurements", [])),
        **values,
    )


def _measured(measurements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the metrics with a result, each with its title, its summary and its rows."""
    kinds = {one["name"]: METRICS[one["name"]] for one in measurements if one["name"] in METRICS}
    notes = {name: {"title": kind.title, "summary": kind.summary()} for name, kind in kinds.items()}
    return [one for group in metric_groups(measurements, notes) for one in group["metrics"]]


def _lines(costs: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, int, int, int]]:
    """Return the traffic of each connection, once: the two parties, messages, bytes sent and bytes received."""
    found: dict[frozenset[str], tuple[str, int, int, int]] = {}
    for role, cost in costs.items():
        for peer, line in cost["traffic"].items():
            between = f"{PARTY_NAMES[role]} and {PARTY_NAMES[peer]}"
            messages = line["messages_sent"] + line["messages_received"]
            found.setdefault(frozenset((role, peer)), (between, messages, line["bytes_sent"], line["bytes_received"]))
    return [*found.values()]
