"""The arguments of `publish` as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.attacks.base import Attack
from setveil.data.forms.base import Ids
from setveil.engines.blocks import BLOCK_RECORDS
from setveil.engines.chosen import EngineName
from setveil.errors import BadParameter
from setveil.methods.base import Method
from setveil.parameters.names_found import MissingNames
from setveil.release.attack_runs import as_attacks
from setveil.release.context import Context
from setveil.release.measuring import as_metrics
from setveil.release.saving import Packing, Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from setveil.metrics.base import Metric
    from setveil.release.register import Registration


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)  # an address has a password
class Publication:
    """The arguments of `publish`, by name. A job file has a key for each of them, checked by these annotations."""

    data: Any
    method: Method
    out: str | Path | None = None
    private: str | Path | None = None
    format: str | None = None
    separator: str | None = None
    compress: Packing | None = None
    file_records: int | None = None
    force: bool = False
    ids: Ids | None = None
    seed: int | None = None
    experiment: bool = False
    allow_failures: int = 0
    no_guarantee: bool = False
    threads: int | None = None
    block_records: int = BLOCK_RECORDS
    engine: EngineName = "local"
    spark_remote: str | None = None
    spark_folder: str | None = None
    scratch: str | Path | None = None
    metrics: str | Metric | Iterable[str | Metric] = "quick"
    attacks: str | Attack | Iterable[str | Attack] = "quick"
    attack_limit: float | str | None = None
    original: Any = None
    missing_names: MissingNames = "accept"
    distinct_labels: bool = False
    register: str | Path | Registration | None = None
    names: Mapping[str, str] | str | Path | None = None
    comparison: str | Path | None = None
    context: Context | Mapping[str, Any] | str | Path | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.method, Method):
            raise BadParameter(
                f"`method=` is {self.method!r}; allowed is a method with its parameters, such as PartSwap(categories=...)"
            )
        if isinstance(self.context, Context):
            object.__setattr__(self, "context", self.context.model_dump(mode="json"))  # as a job holds it
        for name, listed in (("metrics", as_metrics(self.metrics)), ("attacks", as_attacks(self.attacks))):
            object.__setattr__(self, name, listed)  # an iterator can be read only once

    @property
    def target(self) -> Target | None:
        """Where to write the release; None if it is not written."""
        if self.out is None:
            return None
        chosen = {name: getattr(self, name) for name in ("format", "separator", "compress", "file_records", "force")}
        return Target.of(self.out, self.private, **chosen)
