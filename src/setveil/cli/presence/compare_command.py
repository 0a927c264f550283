"""`setveil presence compare`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.base.declaration import split_commas
from setveil.catalog import named
from setveil.cli.options import Option
from setveil.cli.presence.options import TRIAL, trial_of
from setveil.cli.show import say, say_json, say_table
from setveil.errors import BadParameter, GuaranteeViolated
from setveil.presence.catalog import METHODS
from setveil.presence.metrics.range_queries import RangeQueryError

if TYPE_CHECKING:
    from setveil.presence.methods.base import JoiningMethod, Keys
    from setveil.presence.policy import Policy
    from setveil.presence.tables.originals import Originals

TEXT = """Runs the protocol and the methods it is compared with on both tables, in the clear and with the limits of the policy, checks what
each promises and counts with random range queries. Nothing is published: extended-mondrian would show who exists where, and mpalm and
mondrian need both tables in one hand.

Example:
  setveil presence compare trial/a.csv trial/b.csv \\
      --population trial/population.csv --policy trial/policy.toml"""


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        *TRIAL,
        Option("methods", str, "Which, separated by commas.", ",".join(METHODS)),
        Option("selectivity", str, "Shares of the domain that queries cover, separated by commas.", "5%,10%,20%,30%"),
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Compare."""
    for option in ("methods", "selectivity"):
        if not split_commas(given[option]):
            raise BadParameter(f"--{option} names nothing; expected at least one, separated by commas")
    kinds = [named("method", METHODS, name) for name in split_commas(given["methods"])]
    metrics = [RangeQueryError(selectivity=share) for share in split_commas(given["selectivity"])]
    policy, originals, keys = trial_of(given)
    methods = [_with_limits(kind, policy) for kind in kinds]
    found = [_compared(method, originals, keys, metrics) for method in methods]
    if given["json"]:
        say_json({"methods": found})
        return 0
    errors = [f"error at {metric.selectivity}" for metric in metrics]
    rows = [
        [
            one["name"],
            one["groups"],
            *(None if error is None else f"{error:.3g}" for error in one["errors"]),
            round(one["seconds"], 2),
            one["promises"],
        ]
        for one in found
    ]
    say_table(["method", "groups", *errors, "seconds", "promises"], rows)
    for one in found:
        if one["reason"]:
            say(f"{one['name']}: {one['reason']}")
    return 0


def _with_limits(kind: type[JoiningMethod], policy: Policy) -> JoiningMethod:
    """Make a method with those limits of the policy that it knows; the protocol in the clear, whose groups are the same."""
    limits = policy.changed(backend="clear").method.model_dump(mode="json")
    return kind(**{p.name: limits[p.name] for p in kind.parameters() if p.name in limits})


def _compared(
    method: JoiningMethod, originals: Originals, keys: Keys, metrics: list[RangeQueryError]
) -> dict[str, Any]:
    """Run one method, check it, and measure it."""
    began = time.perf_counter()
    nothing = {"groups": None, "errors": [None] * len(metrics), "promises": "", "seconds": 0.0}
    with progress.step(f"running {method.name}"):
        try:
            outcome = method.apply(originals, keys=keys)
        except GuaranteeViolated as error:
            return {"name": method.name, **nothing, "reason": str(error)}
    seconds = time.perf_counter() - began
    verdicts = [one.check(outcome.table, original=originals, alignment=outcome.groups) for one in method.guarantees]
    with progress.step(f"measuring {method.name}"):
        errors = [metric(originals, outcome.table).value for metric in metrics]
    return {
        "name": method.name,
        "groups": outcome.table.groups,
        "errors": errors,
        "promises": ", ".join(f"{one.guarantee} {one.status}" for one in verdicts),
        "seconds": seconds,
        "reason": "",
    }
