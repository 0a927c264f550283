"""Specifications of charts: what every chart has in common, and the numbers that each one draws."""

import json

import altair as alt
import pytest
from jsonschema import ValidationError

from setveil.report import charts
from setveil.report.charts import SIDES, Axis, Chart, Series
from setveil.report.release_charts import release_charts
from setveil.report.theme import AFTER, BEFORE, COUNT, LOOK, PALETTE, SHARE

PAIRS = [
    {"name": name, "side": side, "count": count}
    for name, counts in {"milk": (5000, 4000), "bread": (300, 310)}.items()
    for side, count in zip(SIDES.names, counts, strict=True)
]
LADDER = [
    {"support": support, "method": method, "kept": kept, "least": kept - 0.1, "most": kept + 0.1}
    for method, values in {"part-swap": (0.9, 0.8), "rand-swap": (0.7, 0.4), "part-supp": (0.6, 0.5)}.items()
    for support, kept in zip(("1%", "0.5%"), values, strict=True)
]
DOWN, ALONG = Axis("name", "", ""), Axis("count", "number of records")
METHODS = Series("method", ("part-swap", "rand-swap", "part-supp"))
KEPT = Axis("kept", "share kept", SHARE, limits=(0, 1))
RANKED = [{"side": row["side"], "rank": 1 + place // 2, "count": row["count"]} for place, row in enumerate(PAIRS)]

EACH = {
    "paired dots": charts.paired_dots(PAIRS, down=DOWN, along=ALONG, text="said"),
    "curves": charts.curves(RANKED, across=Axis("rank", "rank", scale="log"), up=ALONG, text="said"),
    "grouped bars": charts.grouped_bars(PAIRS, across=DOWN, up=ALONG, text="said"),
    "stacked shares": charts.stacked_shares(PAIRS, down=DOWN, along=ALONG, series=SIDES, text="said"),
    "bars": charts.bars(PAIRS[::2], down=DOWN, along=ALONG, series=SIDES, text="said"),
    "lines": charts.lines_with_spread(LADDER, across=Axis("support", "", ""), up=KEPT, series=METHODS, text="said"),
    "lines with spread": charts.lines_with_spread(
        LADDER, across=Axis("support", "", ""), up=KEPT, series=METHODS, spread=("least", "most"), text="said"
    ),
    "heat map": charts.heat_map(
        [{**row, "label": "5", "dark": True} for row in PAIRS],
        across=DOWN,
        down=Axis("side", "side", ""),
        up=Axis("label", "number", ""),
        series=SIDES,
        text="said",
    ),
    "dots with a limit": charts.paired_dots(
        PAIRS, down=DOWN, along=Axis("count", "n", scale="symlog", ticks=(0, 10)), lines=3, limit=100, text="said"
    ),
    "curves with limits": charts.curves(
        RANKED,
        across=Axis("rank", "rank"),
        up=ALONG,
        limits=[{"rank": 1, "count": 100, "name": "least", "side": "below"}],
        widest=2.5,
        text="said",
    ),
    "bars without a legend": charts.grouped_bars(PAIRS, across=DOWN, up=ALONG, legend=False, text="said"),
}


def every(value, key):
    """Return all values that stand under a key, however deep."""
    if isinstance(value, dict):
        return [v for k, v in value.items() if k == key] + [
            found for part in value.values() for found in every(part, key)
        ]
    return [found for part in value for found in every(part, key)] if isinstance(value, list) else []


def drawn_rows(spec):
    """Return the rows of a specification, each once."""
    values = {id(data["values"]): data["values"] for data in every(spec, "data")}
    return [row for rows in values.values() for row in rows]


@pytest.mark.parametrize("spec", EACH.values(), ids=EACH)
def test_every_chart_is_as_wide_as_its_place_says_what_it_is_and_names_no_address(spec):
    assert spec["width"] == "container"
    assert isinstance(spec["height"], int)
    assert spec["description"] == "said"
    text = json.dumps(spec)
    assert "http" not in text
    assert not {"$schema", "config", "usermeta"} & spec.keys()
    assert every(spec, "tooltip")


@pytest.mark.parametrize("spec", EACH.values(), ids=EACH)
def test_every_chart_agrees_with_the_schema_of_vega_lite(spec):
    alt.Chart.from_dict(spec)


def test_the_charts_of_a_report_agree_with_the_schema_of_vega_lite(dossier):
    drawn = release_charts(dossier)
    assert len(drawn) > 3
    for chart in drawn.values():
        alt.Chart.from_dict(chart.spec)


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize(("key", "wrong"), [("type", "amount"), ("scale", {"range": {}}), ("mark", "blob")])
def test_the_schema_refuses_what_is_not_vega_lite(name, key, wrong):
    def spoilt(value):
        if isinstance(value, dict):
            return {k: wrong if k == key else spoilt(v) for k, v in value.items()}
        return [spoilt(part) for part in value] if isinstance(value, list) else value

    with pytest.raises(ValidationError):
        alt.Chart.from_dict(spoilt(EACH[name]))


@pytest.mark.parametrize("name", ["paired dots", "curves", "grouped bars", "stacked shares"])
def test_before_and_after_have_the_same_colours_everywhere(name):
    colours = [channel["scale"] for channel in every(EACH[name], "color") if isinstance(channel, dict)]
    assert colours
    assert all(scale == {"domain": ["original", "release"], "range": [BEFORE, AFTER]} for scale in colours)


def test_numbers_have_their_thousands_apart_and_axes_their_words():
    for name in ("paired dots", "grouped bars", "bars"):
        axes = [axis for axis in every(EACH[name], "axis") if "format" in axis]
        assert axes
        assert {axis["format"] for axis in axes} == {COUNT}
        assert "number of records" in every(EACH[name], "title")
    assert all(shown.get("format") == COUNT for shown in _quantities("grouped bars"))


def _quantities(name):
    return [side for shown in every(EACH[name], "tooltip") for side in shown if side["type"] == "quantitative"]


def test_names_keep_the_order_of_the_rows():
    for name, side in (("paired dots", "y"), ("grouped bars", "x"), ("stacked shares", "y"), ("lines", "x")):
        assert all(channel["sort"] is None for channel in every(EACH[name], side) if channel.get("type") == "nominal")


def test_parts_of_a_stacked_bar_lie_end_to_end_in_the_order_of_the_series():
    rows = drawn_rows(EACH["stacked shares"])
    assert [(row["name"], row["side"]) for row in rows] == [(row["name"], row["side"]) for row in PAIRS]
    milk, bread = rows[:2], rows[2:]
    for first, second in (milk, bread):
        assert first["from"] == 0
        assert first["to"] == second["from"] == pytest.approx(first["count"] / (first["count"] + second["count"]))
        assert second["to"] == pytest.approx(1)
        assert first["middle"] == pytest.approx(first["to"] / 2)
        assert second["share"] == pytest.approx(1 - first["to"])


def test_a_bar_of_nothing_divides_by_nothing():
    rows = [{**row, "count": 0} for row in PAIRS]
    spec = charts.stacked_shares(rows, down=DOWN, along=ALONG, series=SIDES)
    assert {row["to"] for row in drawn_rows(spec)} == {0}


def test_a_spread_is_an_area_between_its_bounds():
    layers = EACH["lines with spread"]["layer"]
    assert [layer["mark"]["type"] for layer in layers] == ["area", "line", "point"]
    assert (layers[0]["encoding"]["y"]["field"], layers[0]["encoding"]["y2"]["field"]) == ("least", "most")
    assert [layer["mark"]["type"] for layer in EACH["lines"]["layer"]] == ["line", "point"]
    assert [shown["field"] for shown in layers[2]["encoding"]["tooltip"]] == [
        "method",
        "support",
        "kept",
        "least",
        "most",
    ]


def test_series_without_colours_take_them_from_the_palette_and_start_again_at_its_end():
    assert METHODS.palette == [*PALETTE[:3]]
    many = Series("method", tuple(map(str, range(len(PALETTE) + 2))))
    assert many.palette == [*PALETTE, *PALETTE[:2]]


def test_series_are_told_apart_without_colour_too():
    lines = every(EACH["lines"], "strokeDash")[0]["scale"]["range"]
    shapes = every(EACH["lines"], "shape")[0]["scale"]["range"]
    assert len({tuple(dash) for dash in lines}) == len(set(shapes)) == 3


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ((1, 950), (1, 10, 100, 1000)),
        ((20, 3000), (10, 100, 1000, 10000)),
        ((3, 8), ()),
        ((1, 1), ()),
        ((1, 101), (1, 10, 100, 1000)),
    ],
)
def test_ticks_of_a_logarithmic_axis(values, ticks):
    assert charts.decades(values) == ticks


def test_long_names_beside_bars_are_broken_into_lines_and_make_room_for_them():
    assert charts.wrapped("published as they are") == "published as they\nare"
    assert charts.wrapped("x" * 30) == "x" * 30
    rows = [{"name": "a name that needs three lines at the very least", "side": "original", "count": 1}]
    high, low = (
        charts.bars(r, down=DOWN, along=ALONG, series=SIDES)["height"] for r in (rows, [{**rows[0], "name": "short"}])
    )
    assert high > low


def test_names_below_a_chart_are_tilted_only_where_they_need_it():
    few = [{**row, "name": "ab"} for row in PAIRS]
    many = [{"name": f"{place}–{place + 9}", "side": "original", "count": 1} for place in range(0, 200, 10)]
    angles = [every(charts.grouped_bars(rows, across=DOWN, up=ALONG), "labelAngle") for rows in (few, many)]
    assert angles == [[0], [-90]]


def test_a_page_reads_the_look_once_and_the_specifications_by_their_keys():
    made = [Chart(key, "title", "text", {"mark": "bar"}, ("a",), []) for key in ("one", "two")]
    assert charts.as_embedded(made) == {"look": LOOK, "specs": {"one": {"mark": "bar"}, "two": {"mark": "bar"}}}


def test_rows_are_left_as_they_are():
    before = json.dumps(PAIRS)
    charts.bars(PAIRS[::2], down=DOWN, along=ALONG, series=SIDES)
    charts.stacked_shares(PAIRS, down=DOWN, along=ALONG, series=SIDES)
    assert json.dumps(PAIRS) == before
