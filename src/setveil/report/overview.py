"""The box at the top of a report: what holds and for how many records, the risk before and after, the cost, and how it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from setveil.base.display import quantity, setting, share
from setveil.catalog import ATTACKS, GUARANTEES
from setveil.report.facts import failures_in, findings_of, headline_of_dossier, risks_guessed, unit_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from setveil.attacks.base import Finding

MOST_FIGURES = 3
LIKELY_KNOWN = (2, 3)
"""Numbers of items that an attacker is likely to know; the box shows the attacks with these."""


class RiskRow(NamedTuple):
    """A risk with the release, beside what to compare it with."""

    text: str
    before: str
    """In the original; empty if this was not measured."""
    after: str
    base: str


def overview(dossier: dict[str, Any]) -> dict[str, Any]:
    """Return the content of the box."""
    return {
        "verdict": _verdict(dossier),
        "risks": [*_risks(dossier)],
        "costs": _costs(dossier),
        "not_protected": _not_protected(dossier),
        "limit": findings_of(dossier).judgement,
        "recipe": [*_recipe(dossier)],
        "can_repeat": bool(dossier.get("job")),
    }


class Verdict(NamedTuple):
    """The verdict as the box shows it."""

    look: str
    """The style: `holds`, `violated` or `none`."""
    line: str
    detail: str = ""
    """Why the other records are not covered."""
    bar: Sequence[tuple[str, float, str]] = ()
    """The shares of records: a colour, percent, and what they are."""


def _verdict(dossier: dict[str, Any]) -> Verdict:
    verdict, method = dossier["verdict"], dossier["method"]["name"]
    if verdict is None:
        return Verdict("none", "No guarantee", f"{method} is a baseline. Do not share this release as protected data.")
    name, reach = dossier["card"]["guarantee"]["name"], verdict.get("reach")
    covered = "" if reach is None else f" for {reach['covered']:,} of {reach['total']:,} {reach['unit']}"
    rest = "; ".join(f"{count:,} {phrase}" for phrase, count in (reach or {}).get("rest", {}).items() if count)
    if verdict["status"] == "holds":
        return Verdict("holds", f"{name} holds{covered}", rest, _bar(reach, 0))
    failures = failures_in(dossier)
    line = f"{name} does not hold for {quantity(failures, unit_of(dossier)[:-1])}, which was allowed"
    return Verdict("violated", line, f"It holds{covered}." if covered else "", _bar(reach, failures))


def _bar(reach: dict[str, Any] | None, failures: int) -> list[tuple[str, float, str]]:
    """Return the shares of records that are protected, excepted and not covered; none for a guarantee about something else."""
    if reach is None or not reach["total"] or reach["unit"] != "records":
        return []
    total = reach["total"]
    counts = [("protected", reach["covered"], "protected"), ("violated", failures, "not protected, which was allowed")]
    counts.append(("neutral", total - reach["covered"] - failures, "not covered"))
    return [(look, 100 * count / total, f"{count:,} {text}") for look, count, text in counts if count > 0]


def _risks(dossier: dict[str, Any]) -> Iterator[RiskRow]:
    found = dossier.get("singled_out")
    if found is not None:
        text = f"records that {found['known']} known items single out"
        yield RiskRow(text, share(found["before"]), share(found["after"]), "")
    tried = [one for one in findings_of(dossier) if one.main is not None and one.name in ATTACKS]
    yield from (_attack(one) for one in tried if one.parameters.get("known") in LIKELY_KNOWN)
    own = risks_guessed(dossier)[:1]
    yield from (RiskRow(one.text, "", one.shown, one.base) for one in own)
    shown = {one.text for one in own}
    others = [one for one in findings_of(dossier).strongest if one.name in ATTACKS and "known" not in one.parameters]
    yield from (_attack(one) for one in [one for one in others if _success(one) not in shown][:1])


def _success(one: Finding) -> str:
    return ATTACKS[one.name].success_with(one.parameters)


def _attack(one: Finding) -> RiskRow:
    assert one.main is not None
    assert one.naive is not None
    before = one.details.get("in-the-original", {}).get("right")
    base = f"{share(one.naive.rate)} by chance"
    if one.control is not None:
        base += f", {share(one.control.rate)} for people who are not in the release"
    return RiskRow(_success(one), "" if before is None else share(before), share(one.main.rate), base)


def _costs(dossier: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return three figures of utility: those of the headline, and parts of the line about the cost if there are too few."""
    figures = [(one.shown, one.text, one.base) for one in headline_of_dossier(dossier).about("utility")[:MOST_FIGURES]]
    parts = dossier.get("summary", {}).get("cost", "")
    lines = [("", part, "") for part in parts.split("; ") if part]
    return figures + lines[: MOST_FIGURES - len(figures)]


def _not_protected(dossier: dict[str, Any]) -> str:
    """Return what is not protected, without the figures that are in the table of risks."""
    if dossier["verdict"] is None:
        return "Anything: the release can reveal everything that the original reveals"
    name, parameters = dossier["guarantee"]["name"], dossier["guarantee"]["parameters"]
    lines = dossier["card"]["guarantee"]["not_covered"][:MOST_FIGURES]
    line = GUARANTEES[name].model_construct(**parameters).not_protected if name in GUARANTEES else "; ".join(lines)
    return line[:1].upper() + line[1:]


def _recipe(dossier: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Return how the release was made, as names and texts; `side_files` and `job` are there in dossiers of later versions only."""
    method, given = dossier["method"], dossier["input"]
    yield "method", method["name"]
    settings = [f"{key} = {setting(value)}" for key, value in method["parameters"].items() if _is_short(value)]
    yield "parameters", ", ".join(settings) or "none"
    sides = dossier.get("side_files") or []
    if sides:
        yield "side files", "; ".join(f"{one['parameter']}: {one['found'] or one['source']}" for one in sides)
    yield "data", f"{given['source'] or 'in memory'}, {quantity(given['records'], 'record')}"
    if dossier.get("comparison"):
        yield "tried before", dossier["comparison"]["text"]
    seed = "given by you" if dossier.get("seed_given") else "random" if "seed_given" in dossier else "in the dossier"
    if dossier.get("register"):
        seed = "from the register"
    yield "seed", f"{seed}; kept in dossier.json"
    yield "made", f"{dossier['made'][:10]} with setveil {dossier['versions']['setveil']}"


def _is_short(value: Any) -> bool:
    return value is not None and not isinstance(value, dict | list | tuple)
