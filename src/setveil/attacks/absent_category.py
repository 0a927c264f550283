"""Guess the hidden category of a record from the categories that its row lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.attacks.base import Attack, Finding
from setveil.attacks.trials import Trial
from setveil.metrics.tendency import TendencyPosterior, kept_heavy

if TYPE_CHECKING:
    from setveil.attacks.target import Target


class AbsentCategory(Attack):
    """Guess the category that a person leans to from what the row still shows."""

    name = "absent-category"
    title = "Guessing the hidden category"
    knows = "the categories, the method, and the truth for half of the people"
    statistic = "the best of the three guessers of tendency-posterior names a heaviest category of the record"
    base_rate = "the most common heaviest category is named"
    success = "hidden category guessed right"
    blind_to = "attackers who know items of a person, and stronger guessers"
    fits = ("hidden-tendency",)
    guesses_all = True

    def run(self, target: Target) -> Finding:
        """Measure tendency-posterior, and count ties and second tendencies that rows keep."""
        categories = target.known.get("categories")
        if categories is None:
            return self.impossible("the release hides no category")
        measured = TendencyPosterior(categories=categories).of(target.pair)
        if measured.value is None:
            return self.without_result(measured.reason)
        tried = measured.details.get("sample", measured.details["records"])
        details = {name: measured.details[name] for name in ("absent", "beside-heaviest", "bayes")}
        return self.finding(
            Trial(measured.value * tried, tried, best_of=3),
            Trial.known(measured.details["base-rate"]),
            details=details | kept_heavy(target.pair, categories),
        )
