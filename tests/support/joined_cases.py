"""Small tables of two providers, groups and joined tables drawn at random, and the paper's own example."""

import random
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa

from setveil.presence.tables.attributes import NumericAttribute, OrderedAttribute
from setveil.presence.tables.joined_table import JoinedTable
from setveil.presence.tables.originals import BothGroups, Originals, SideGroups
from setveil.presence.tables.population import Population
from setveil.presence.tables.provider_table import ProviderTable
from setveil.presence.tables.schema import Schema


def small_schema(rng):
    a = (
        NumericAttribute("age", Decimal(0), Decimal(rng.choice([3, 5])), Decimal(1)),
        OrderedAttribute("sex", ("f", "m")),
    )
    b = (OrderedAttribute("plan", ("free", "basic", "full")[: rng.choice([2, 3])]),)
    if rng.random() < 0.5:
        b += (NumericAttribute("hours", Decimal(0), Decimal("1.5"), Decimal("0.5")),)
    return Schema(a[: rng.choice([1, 2])], b, OrderedAttribute("title", ("X", "Y", "Z")[: rng.choice([2, 3])]))


@dataclass
class Case:
    """Both sides as plain Python values and as setveil takes them."""

    schema: Schema
    ids: list
    a: dict
    """Cells by id."""
    b: dict
    """Cells and sensitive value by id."""
    group_of: dict
    boxes: list
    """Of each group the intervals of A and those of B."""
    records: list
    """The boxes and the sensitive value of each record."""

    @property
    def originals(self):
        return self.originals_of("ab")

    def originals_of(self, roles):
        sides = {}
        for role in roles:
            users = getattr(self, role)
            ids = pa.array(users, pa.large_string())
            if role == "a":
                sides[role] = ProviderTable(ids, np.array(list(users.values()), dtype=np.int32))
            else:
                codes = np.array([cells for cells, _value in users.values()], dtype=np.int32)
                sides[role] = ProviderTable(ids, codes, np.array([value for _cells, value in users.values()], np.int64))
        return Originals(self.schema, Population.of(self.ids), **sides)

    def side(self, role):
        place = "ab".index(role)
        boxes = np.array([box[place] for box in self.boxes], dtype=np.int32).reshape(len(self.boxes), -1, 2)
        group_of = np.array([self.group_of.get(one, -1) for one in self.ids], dtype=np.int64)
        return SideGroups(group_of, boxes[:, :, 0].copy(), boxes[:, :, 1].copy())

    @property
    def groups(self):
        return BothGroups(self.side("a"), self.side("b"))

    @property
    def table(self):
        return joined(self.schema, self.records)


def joined(schema, records):
    """Make the table of records (box at A, box at B, sensitive value)."""
    boxes = np.array([[*a, *b] for a, b, _value in records], dtype=np.int32).reshape(len(records), -1, 2)
    counts = np.zeros((len(records), schema.sensitive.cells), dtype=np.int64)
    for row, (_a, _b, value) in enumerate(records):
        counts[row, value] = 1
    return JoinedTable.arranged(schema, boxes[:, :, 0], boxes[:, :, 1], counts)


def drawn(seed, *, left_out=False, splits=4):
    """Draw users and cut boxes in two, ids along with them: by its own value where the owner of the cut has the id, else by chance."""
    rng = random.Random(seed)  # noqa: S311 - test data
    schema = small_schema(rng)
    ids = [f"u{number}" for number in range(rng.randint(5, 40))]
    rng.shuffle(ids)
    chance = rng.choice([0.3, 0.6, 0.9])
    a = {one: tuple(rng.randrange(x.cells) for x in schema.a) for one in ids if rng.random() < chance}
    b = {
        one: (tuple(rng.randrange(x.cells) for x in schema.b), rng.randrange(schema.sensitive.cells))
        for one in ids
        if rng.random() < chance
    }
    a.setdefault(ids[0], (0,) * len(schema.a))
    b.setdefault(ids[0], ((0,) * len(schema.b), 0))
    whole = tuple(tuple((0, x.cells) for x in side) for side in (schema.a, schema.b))
    leaves = [(whole, list(ids))]
    for _ in range(rng.randint(0, splits)):
        box, members = leaves.pop(rng.randrange(len(leaves)))
        leaves += _cut(rng, box, members, a, b)
    boxes = [box for box, _members in leaves]
    group_of = {one: number for number, (_box, members) in enumerate(leaves) for one in members}
    if left_out:
        for one in ids:
            if not (one in a and one in b) and rng.random() < 0.2:
                del group_of[one]
    records = [(*boxes[group_of[one]], b[one][1]) for one in ids if one in a and one in b]
    return Case(schema, ids, a, b, group_of, boxes, records)


def _cut(rng, box, members, a, b):
    side = rng.randrange(2)
    place = rng.randrange(len(box[side]))
    low, high = box[side][place]
    if high - low < 2:
        return [(box, members)]
    at = rng.randrange(low + 1, high)
    halves = ([], [])
    for one in members:
        cells = a.get(one) if side == 0 else b[one][0] if one in b else None
        halves[cells[place] >= at if cells else rng.random() < 0.5].append(one)
    found = []
    for interval, ids in zip(((low, at), (at, high)), halves, strict=True):
        own = tuple(interval if number == place else old for number, old in enumerate(box[side]))
        found.append(((own, box[1]) if side == 0 else (box[0], own), ids))
    return found


INCOME = {"1": 30, "2": 40, "3": 55, "5": 60, "6": 65, "8": 70}
TIMES = {
    "1": ("16:00", "X movie"),
    "2": ("17:00", "Y sports"),
    "4": ("17:30", "X movie"),
    "5": ("16:30", "Y sports"),
    "6": ("18:30", "X movie"),
    "7": ("19:00", "X movie"),
    "9": ("12:00", "Y sports"),
    "10": ("14:00", "Y sports"),
    "11": ("14:30", "X movie"),
    "12": ("11:30", "X movie"),
}
"""Table I (a) and (b) of the paper."""


def table_one(cut):
    """Return Table I as printed, with incomes cut at 50 or 60 thousand; user 13 is at neither provider."""
    income = NumericAttribute("income", Decimal(0), Decimal(99), Decimal(5))
    time = NumericAttribute("time", Decimal(0), Decimal("23.5"), Decimal("0.5"))
    schema = Schema((income,), (time,), OrderedAttribute("title", ("X movie", "Y sports")))
    a = {one: (value // 5,) for one, value in INCOME.items()}
    b = {}
    for one, (clock, title) in TIMES.items():
        hours, minutes = map(int, clock.split(":"))
        b[one] = ((2 * hours + minutes // 30,), schema.sensitive.values.index(title))
    late, early = (32, 48), (0, 32)
    boxes = [(((0, cut // 5),), (late,)), (((cut // 5, 20),), (early,))]
    ids = [str(number) for number in range(1, 14)]
    group_of = {one: int(a[one][0] >= cut // 5) if one in a else int(one in b and b[one][0][0] < 32) for one in ids}
    records = [(*box, value) for box in boxes for value in (0, 1)]
    return Case(schema, ids, a, b, group_of, boxes, records)


def table_two():
    """Return users that Table II of the paper can be of: users 5 and 10 are at neither provider."""
    income = NumericAttribute("income", Decimal(0), Decimal(79), Decimal(5))
    time = NumericAttribute("time", Decimal(0), Decimal("23.5"), Decimal("0.5"))
    schema = Schema((income,), (time,), OrderedAttribute("title", ("X movie", "Y sports")))
    boxes = [(((0, 8),), ((0, 38),)), (((8, 16),), ((0, 38),)), (((0, 16),), ((38, 48),))]
    ids = [str(number) for number in range(1, 16)]
    group_of = {one: (int(one) - 1) // 5 for one in ids}
    a = {one: (9 if group_of[one] == 1 else 3,) for one in ids if int(one) not in {4, 5, 9, 10, 15}}
    titles = {1: 0, 2: 1, 4: 0, 6: 0, 7: 1, 9: 1, 11: 0, 12: 1, 13: 1, 15: 0}
    b = {str(one): ((40 if one > 10 else 20,), title) for one, title in titles.items()}
    records = [(*boxes[group_of[one]], b[one][1]) for one in ids if one in a and one in b]
    return Case(schema, ids, a, b, group_of, boxes, records)
