"""The release under the three criteria of Opinion 05/2014 of the Article 29 Working Party, in sentences that its owner can quote.

Every sentence follows from the dossier: what the guarantee bounds and for how many records, what was measured and beside which base, what
remains, and what to do about it. A bound is stated only if a guarantee holds, and nothing is concluded from an attack that finds little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from setveil.attacks.base import FOUND, TOO_FEW, TOO_WEAK
from setveil.base.display import quantity, share
from setveil.catalog import ATTACKS
from setveil.report.facts import failures_in, findings_of, risks_guessed, unit_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from setveil.attacks.base import Finding

Name = Literal["singling out", "linkability", "inference"]
OPINION = "Opinion 05/2014 of the Article 29 Working Party on anonymisation techniques (WP216)"
INTRODUCTION = (
    f"These paragraphs assess the release by the three criteria of {OPINION}. They state what was checked and measured. "
    "Whether the data are anonymous in law is for you to judge."
)
MEANINGS: dict[Name, str] = {
    "singling out": "Singling out is to isolate records that identify a person in the data.",
    "linkability": (
        "Linkability is to connect two or more records of the same person or group of people, in one data set or in several."
    ),
    "inference": "Inference is to conclude, with significant probability, something about a person from other facts.",
}
ON_THE_CARD: dict[Name, str] = {"singling out": "singling_out", "linkability": "linking", "inference": "inference"}
LIMITS = ("k", "m", "p", "rho")
"""Parameters that state how strong a guarantee is."""
ABOUT_SINGLING_OUT = ("finding a person:", "k^m-anonymity of a file by itself:")
"""How the lines of a card begin that are about singling out; the other ones are about inference, or about several criteria."""
MOST_ATTACKS = 3
IDS = {
    "drop": "Rows have no ids, so no id connects them with other data.",
    "pseudonym": "Rows have pseudonyms that are used in this release only.",
    "keep": "Rows keep their original ids, which connect them with all other data that hold these ids.",
}
UNDECIDED = {
    TOO_FEW: "; there were too few guesses to decide whether this is more than without the release",
    TOO_WEAK: "; the attack is too weak to find more than without the release",
    FOUND: "",
}
FURTHER_FOR_INFERENCE = {
    "km-anonymity": (
        "If some items are sensitive, name them and use `insert` or `permutation`, which bound their inference."
    ),
    "rho-uncertainty": "Items that were not named as sensitive are not covered. A smaller `rho` lowers the limit.",
    "permutation-privacy": (
        "A larger `p` lowers the limit. ρ-uncertainty (`insert`) also covers attackers who know sensitive items."
    ),
    "hidden-tendency": "With more categories, the absence of one from a row reveals less.",
    "hidden-itemsets": "Name every itemset that must stay secret, and do not rely on this release to protect people.",
}
"""What to do about inference, by guarantee."""


class Criterion(NamedTuple):
    """A criterion of the opinion, and what is known about it in this release."""

    name: Name
    bounded: bool
    """Whether the guarantee bounds it, for some records and some attackers."""
    meaning: str
    protection: str
    measured: str
    further: str
    """What remains, and what to do about it."""

    @property
    def text(self) -> str:
        """The paragraph."""
        return _joined((self.meaning, self.protection, self.measured, self.further))


def criteria(dossier: dict[str, Any]) -> list[Criterion]:
    """Return the three criteria with what the dossier says about each."""
    parts = {"singling out": _singled_out, "linkability": _linked, "inference": _inferred}
    return [
        Criterion(
            name,
            _is_bounded(dossier, name),
            meaning,
            _protection(dossier, name),
            _joined(parts[name](dossier)),
            _joined(_further(dossier, name)),
        )
        for name, meaning in MEANINGS.items()
    ]


def _stated(dossier: dict[str, Any], name: Name) -> str:
    text: str = dossier["card"]["guarantee"][ON_THE_CARD[name]]
    return text


def _is_bounded(dossier: dict[str, Any], name: Name) -> bool:
    """Return whether the card states a bound for people, and the guarantee holds or fails for allowed records only."""
    if dossier["verdict"] is None or unit_of(dossier) == "itemsets":
        return False
    return _stated(dossier, name).startswith("bounded")


def _protection(dossier: dict[str, Any], name: Name) -> str:
    """Return what the release does about a criterion."""
    guarantee = dossier["card"]["guarantee"]
    if dossier["verdict"] is None:
        return f"The method {dossier['method']['name']} is a baseline: nothing in this release limits it."
    name_of_guarantee, text = guarantee["name"], _stated(dossier, name)
    if not text.startswith(("bounded", "not bounded")):  # a whole sentence
        return f"{_capital(text)}."
    if text.startswith("not bounded"):
        return f"{_capital(name)} is {text}. The guarantee {name_of_guarantee} does not limit it."
    about_people = "" if _is_bounded(dossier, name) else f"{_capital(name)} about people is not bounded. "
    strength = [f"{key} = {guarantee['parameters'][key]}" for key in LIMITS if key in guarantee["parameters"]]
    named = f"{name_of_guarantee} ({', '.join(strength)})" if strength else name_of_guarantee
    return (
        f"{about_people}{_capital(name)} is {text}. This follows from the guarantee {named}, {_reach(dossier)}."
        f"{_exceptions(dossier)}"
    )


def _reach(dossier: dict[str, Any]) -> str:
    """Return for how many records the guarantee holds; dossiers of version 1 and 2 do not count them."""
    reach = dossier["verdict"].get("reach")
    counted = "" if reach is None else f" for {reach['covered']:,} of {reach['total']:,} {reach['unit']}"
    return f"which was checked on the written file and holds{counted}"


def _exceptions(dossier: dict[str, Any]) -> str:
    failures, unit = failures_in(dossier), unit_of(dossier)
    are = f"{unit[:-1]} is", f"{unit} are"
    return f" {quantity(failures, *are)} not protected, which was allowed." if failures else ""


def _singled_out(dossier: dict[str, Any]) -> Iterator[str]:
    found = dossier.get("singled_out")
    if found is not None:
        yield (
            f"Of the released records, {share(found['after'])} hold up to {found['known']} items that occur together in no other record "
            f"({share(found['before'])} in the original)."
        )
    tried = _tried(dossier, "singling out")
    yield from (_attack(one) for one in _telling(tried))
    if found is None and not tried:
        yield "It was not measured, because no attack that looks for the record of a person has a result."


def _linked(dossier: dict[str, Any]) -> Iterator[str]:
    yield IDS.get(dossier["ids"], "")
    if dossier["card"]["unit"] == "record":
        yield "Each record counts as a person of its own: several records of one person are not covered."
    yield (
        "No attack measures linkability. An attacker who finds the record of a person by known items (see singling out) can connect it "
        "with other data about this person."
    )
    register = dossier.get("register")
    if register is None:
        yield "Other releases of these data were not checked."
    elif register.get("together") is None:
        yield "The register holds no other release of these people."
    else:
        number = quantity(len(register["together"]["releases"]), "earlier release")
        yield f"It was checked together with {number} of these people: {register['together']['text']}."


def _inferred(dossier: dict[str, Any]) -> Iterator[str]:
    figures = risks_guessed(dossier)
    yield from (f"{figure}." for figure in map(_capital, map(str, figures[:2])))
    shown = {figure.text for figure in figures}
    tried = [one for one in _tried(dossier, "inference") if _success(one) not in shown]
    yield from (_attack(one) for one in _telling(tried))
    if not figures and not tried:
        yield "It was not measured, because no metric or attack that guesses items has a result."


def _tried(dossier: dict[str, Any], name: Name) -> list[Finding]:
    """Return the findings about a criterion that have a result."""
    found = findings_of(dossier)
    return [
        one for one in found if one.main is not None and one.name in ATTACKS and ATTACKS[one.name].criterion == name
    ]


def _telling(found: list[Finding]) -> list[Finding]:
    """Return a few findings: the strongest settings of each attack, those that find more than without the release first."""
    strength = {id(one): one.excess.low if one.excess is not None else 0.0 for one in found}
    order = sorted(found, key=lambda one: (one.verdict != FOUND, -strength[id(one)]))
    usual = [one for one in found if one.parameters.get("known") in (2, 3)]  # what people are likely to know
    chosen = usual or [
        next(one for one in order if one.name == name) for name in dict.fromkeys(one.name for one in order)
    ]
    return chosen[:MOST_ATTACKS]


def _success(one: Finding) -> str:
    return ATTACKS[one.name].success_with(one.parameters)


def _attack(one: Finding) -> str:
    """Return how often an attack is right, with its interval and what to compare it with."""
    assert one.main is not None
    assert one.naive is not None
    low, high = one.main.interval
    bases = [f"{share(one.naive.rate)} by chance"]
    if one.control is not None:
        bases.append(f"{share(one.control.rate)} for people who are not in the release")
    before = one.details.get("in-the-original", {}).get("right")
    if before is not None:
        bases.append(f"{share(before)} with the original")
    estimated = "" if one.main.is_exact else f"95 % interval {share(low)} to {share(high)}; "
    return f"{_capital(_success(one))} for {share(one.main.rate)} ({estimated}{', '.join(bases)}){UNDECIDED.get(one.verdict, '')}."


def _further(dossier: dict[str, Any], name: Name) -> Iterator[str]:
    """Return what remains, and what to do about it."""
    guarantee = dossier["card"]["guarantee"]
    if dossier["verdict"] is None:
        if name == "singling out":
            yield "Do not share this release as protected data: use it for comparison."
        return
    bounded, kind = _is_bounded(dossier, name), guarantee["name"]
    lines = guarantee["not_covered"]
    if name == "singling out":
        yield from (f"Not covered is {line}." for line in lines if line.startswith(ABOUT_SINGLING_OUT))
        if bounded and "m" in guarantee["parameters"]:
            yield (
                f"What remains: an attacker who knows more than {quantity(guarantee['parameters']['m'], 'item')} of a person may "
                "find fewer records. If recipients can know more, publish with a larger `m`. A larger `k` gives more records to choose "
                "from."
            )
        elif not bounded:
            yield (
                "What remains: a recipient who knows items of a person may find the record. Share the release with known recipients who "
                "agree not to identify people, or use a method that bounds singling out, such as `disassociation`."
            )
    elif name == "linkability":
        if dossier.get("register") is None:
            yield "Publish all releases of these people with one register, which checks them together."
        if dossier["ids"] == "keep":
            yield "Publish with pseudonyms unless recipients need the original ids."
    else:
        others = [line for line in lines if not line.startswith(ABOUT_SINGLING_OUT)]
        yield f"What remains, among others: {'; '.join(others[:2])}."
        yield FURTHER_FOR_INFERENCE.get(kind, "")


def _joined(sentences: Iterable[str]) -> str:
    return " ".join(filter(None, sentences))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
