"""Grids and results for tests of comparisons, made by hand."""

from setveil.comparison.results import ALL, NOT_TRIED, SAMPLE, Comparison, compared, summarized

GRID = """
data = { path = "sample:supermarket?records=1200" }
task = "item-knn:items=60"
metrics = ["fi-similarity:min_support=5%"]
attacks = ["find-record:known=2", "membership"]
targets = 100
sample = 400
seeds = 2

[[methods]]
name = "disassociation"
k = [3, 10]
m = 2

[[methods]]
name = "rand-swap"

[[methods]]
name = "exact-swap"
itemsets = [[["milk"]]]
min_support = [4000]
"""


def trial(task=0.5, excess=0.1, status="holds", attack="find-record", seed=0):
    finding = {
        "name": attack,
        "parameters": {},
        "excess": None if excess is None else {"value": excess, "low": excess - 0.1, "high": excess + 0.1},
    }
    measured = {"name": "ease", "parameters": {}, "value": task, "interval": (task - 0.1, task + 0.1)}
    return {
        "seed": seed,
        "status": status,
        "reason": "" if status == "holds" else f"it is {status}",
        "measurements": [measured],
        "findings": [finding],
        "seconds": {"method": 1.0, "attacking": 2.0},
    }


def with_itemsets(result, kept, lost, new):
    """Return a result of a trial in which frequent itemsets were compared."""
    details = {"kept": kept, "lost": lost, "new": new}
    measured = {"name": "fi-similarity", "parameters": {"min_support": "1%"}, "value": 0.5, "interval": None}
    return result | {"measurements": [*result["measurements"], measured | {"details": details}]}


FACTS = {
    "made": "2026-11-19T00:00:00+00:00",
    "versions": {"setveil": "0.1.0"},
    "data": {"source": "baskets.csv", "records": 1000, "used": 800, "held_out": 200},
    "measured": {"attacks": ["find-record:known=2", "quick"], "targets": 500},
    "task": {
        "name": "ease",
        "title": "Recommendations by EASE",
        "unit": "share of the original's gain over popularity",
        "better": "higher",
        "formula": "(N~ − P) / (N − P)",
    },
}


def comparison(*, source="baskets.csv", value="secret items.txt"):
    """Return a comparison with everything that a page can show; `source` and `value` are texts that users gave."""

    def several(task, excess, **more):
        made = (trial(task + seed / 100, excess - seed / 50, seed=seed, **more) for seed in range(3))
        return [with_itemsets(one, 100 + 3 * one["seed"], 20, 5) for one in made]

    refused = {"seed": 0, "status": "refused", "reason": f"at most 2 of {value} can be hidden; choose `k=2`"}
    nothing = {"measurements": [], "findings": [], "seconds": {"method": 0.1}}
    made = [
        ("insert", {"sensitive": value, "rho": "20%"}, several(0.9, 0.5), ALL),
        ("insert", {"sensitive": value, "rho": "50%"}, several(0.95, 0.55), ALL),
        ("disassociation", {"k": "3", "m": "2"}, several(0.7, 0.12), ALL),
        ("disassociation", {"k": "10", "m": "2"}, several(0.6, 0.11), ALL),
        ("disassociation", {"k": "50", "m": "2"}, several(0.4, 0.11)[:1], SAMPLE),
        ("part-swap", {"categories": "categories.csv"}, several(0.8, 0.8, status="violated"), ALL),
        ("exact-swap", {"itemsets": value, "min_support": "1%"}, [refused | nothing], ALL),
        ("exact-swap", {"itemsets": value, "min_support": "2%"}, [], NOT_TRIED),
        ("rand-swap", {}, several(-0.3, 0.2, status="no guarantee"), ALL),
    ]
    summaries = [
        summarized(name, settings, " ".join([name, *settings.values()]), trials, stage=stage)
        for name, settings, trials, stage in made
    ]
    facts = FACTS | {"data": FACTS["data"] | {"source": source}}
    return Comparison(facts, compared(summaries, higher_is_better=True))
