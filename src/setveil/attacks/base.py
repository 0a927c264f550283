"""The base class of all attacks, and the result of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from setveil.attacks.trials import Excess, Trial
from setveil.base.declaration import Declaration
from setveil.base.display import share
from setveil.data.records.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setveil.attacks.target import Target
    from setveil.data.forms.base import Form

TOO_WEAK = "too weak to tell"
TOO_FEW = "too few guesses to decide"
FOUND = "finds more than without the release"
TRIALS = ("main", "naive", "control")
WIDEST = 0.06
"""The widest interval of an excess that supports a statement that there is little to find."""


@dataclass(frozen=True)
class Finding:
    """What one attack found.

    Attributes
    ----------
    name, parameters
        The attack and its settings.
    main
        The attack with the release; None if there is no result.
    naive
        The same guesses without the release: the base rate.
    control
        The attack on people who are not in the release; None where this makes no sense.
    bound
        The highest rate that the guarantee lets an owner expect, if it states one.
    shadow
        Whether a shadow release was attacked: the same recipe on a part of the records, with the others as the control.
    details
        Further figures.
    reason
        Why there is no result.
    targets
        Maximum number of guesses that was allowed; None if the attack makes all guesses that there are.
    was_run
        Whether the attack was run; if not, the reason states why.

    Examples
    --------
    >>> import setveil as sv
    >>> from setveil.attacks.trials import Trial
    >>> found = sv.Finding("find-record", {"known": 2}, Trial(30, 100), Trial.known(0.01))
    >>> found.verdict
    'finds more than without the release'
    >>> round(found.excess.value, 3), found.exceeds(0.05)
    (0.293, True)
    """

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    main: Trial | None = None
    naive: Trial | None = None
    control: Trial | None = None
    bound: float | None = None
    shadow: bool = False
    details: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    targets: int | None = None
    was_run: bool = True

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Finding:
        """Return the finding that `to_dict` gave these plain values for."""
        given = {one.name: found[one.name] for one in fields(cls) if one.name in found}
        trials = {name: Trial.from_dict(found[name]) for name in TRIALS if found.get(name) is not None}
        return cls(**given | trials)

    @property
    def title(self) -> str:
        """The name with the settings."""
        settings = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.name} ({settings})" if settings else self.name

    @property
    def excess(self) -> Excess | None:
        """What was found beyond the control, or beyond the naive attack if there is no control."""
        if self.main is None or self.naive is None:
            return None
        return Excess.of(self.main, self.naive if self.control is None else self.control)

    @property
    def verdict(self) -> str:
        """Whether the attack finds anything. An attack that finds nothing shows nothing: another attack may succeed."""
        if self.main is None or self.naive is None or self.excess is None:
            return ""
        if self.main.beats(self.naive) and (self.control is None or self.excess.low > 0):
            return FOUND
        return TOO_WEAK if self.excess.high - self.excess.low <= WIDEST else TOO_FEW

    def exceeds(self, limit: float) -> bool:
        """Return whether the upper end of the excess is above a limit."""
        return self.excess is not None and self.excess.high > limit

    @property
    def above_bound(self) -> bool:
        """Whether the attack is right more often than the guarantee lets an owner expect, with more than chance."""
        return self.main is not None and self.bound is not None and self.main.interval[0] > self.bound

    @property
    def sentence(self) -> str:
        """The finding as one sentence."""
        if self.main is None or self.naive is None:
            return f"{self.title}: {self.reason}."
        low, high = self.main.interval
        right = f"right for {share(self.main.rate)} (95 % interval {share(low)} to {share(high)})"
        text = f"{self.title}: {right}, by chance {share(self.naive.rate)}"
        if self.control is not None:
            text += f", for people who are not in the release {share(self.control.rate)}"
        if self.bound is not None:
            text += f"; the guarantee suggests at most {share(self.bound)}"
        return f"{text}; {self.verdict}."

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        found = asdict(self)
        for name in TRIALS:
            trial: Trial | None = getattr(self, name)
            if trial is not None:
                found[name] |= {"rate": trial.rate, "interval": list(trial.interval)}
        excess = None if self.excess is None else asdict(self.excess)
        return {**found, "excess": excess, "verdict": self.verdict}


class Attack(Declaration, ABC):
    """An attempt to find something out from a release, with a count of how often it is right."""

    title: ClassVar[str]
    paper: ClassVar[str]
    knows: ClassVar[str]
    """What the attacker knows besides the release."""
    statistic: ClassVar[str]
    """What is counted as a right guess."""
    base_rate: ClassVar[str]
    """The naive attack."""
    blind_to: ClassVar[str]
    """What the attack cannot see."""
    fits: ClassVar[tuple[str, ...]] = ()
    """The guarantees whose bound it tests; the level `quick` runs it for releases with one of them. Empty: all."""
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({},)
    """The settings that are tried by default."""
    quick_variants: ClassVar[tuple[dict[str, Any], ...] | None] = None
    """The settings that the level `quick` tries; None: those that are tried by default."""
    success: ClassVar[str]
    """What is found if a guess is right, to be followed by the share of right guesses."""
    criterion: ClassVar[Literal["singling out", "inference"]] = "inference"
    """The criterion of Opinion 05/2014 that it tests."""
    guesses_all: ClassVar[bool] = False
    """Whether it makes all guesses that there are, whatever their maximum number."""
    needs: ClassVar[tuple[str, ...]] = ()
    """What it needs in addition: `control` (people who are not in the release), `recipe` (to run the method on other records)."""
    bytes_per_occurrence: ClassVar[int] = 0
    """About the memory that it takes; 0 if it reads the records in pieces. Levels run it only on data for which it takes little."""
    shadow_share: ClassVar[float] = 0.8
    """The share of the records that a shadow release is made from; the others are the control."""
    takes: ClassVar[tuple[type[Form], ...]] = (Transactions,)
    """The published forms to which it applies."""
    example_lines: ClassVar[tuple[str, ...]] = (
        'data = sv.read("sample:supermarket?records=1000")',
        'release = sv.publish(data, sv.Insert(sensitive=sv.read_sensitive("sample:supermarket"), rho="50%"), metrics=[])',
        "attack = {call}",
        "found = sv.attack(release, attacks=[attack])",
    )

    @classmethod
    def help_sections(cls) -> dict[str, list[str]]:
        """Return the section of the help page that describes the attacker."""
        return {
            "Attack": [
                f"The attacker knows {cls.knows}.",
                f"Counted as right: {cls.statistic}.",
                f"Without the release: {cls.base_rate}.",
                f"Cannot see: {cls.blind_to}.",
            ]
        }

    @classmethod
    def applies_to(cls, form: type[Form]) -> bool:
        """Return whether the attack applies to a published form."""
        return form in cls.takes

    @classmethod
    def not_run(cls, why: str) -> Finding:
        """Return the finding of an attack that was not run with any settings."""
        return Finding(cls.name, reason=why, was_run=False)

    @classmethod
    def success_with(cls, parameters: Mapping[str, Any]) -> str:
        """Return `success` for these settings."""
        del parameters
        return cls.success

    def finding(self, main: Trial, naive: Trial, **more: Any) -> Finding:
        """Return the finding of this attack."""
        return Finding(self.name, self.public_parameters(), main, naive, **more)

    def without_result(self, reason: str) -> Finding:
        """Return a finding without a figure."""
        return Finding(self.name, self.public_parameters(), reason=reason)

    def impossible(self, reason: str) -> Finding:
        """Return the finding of an attack that could not be run with these settings."""
        return replace(self.without_result(reason), was_run=False)

    @abstractmethod
    def run(self, target: Target) -> Finding:
        """Attack a release, and count how often the attacker is right."""
