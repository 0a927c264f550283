from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import BeforeValidator, Field, model_validator

import setveil as sv
from setveil.base.declaration import Declaration, Parameter, parameter, split_commas
from setveil.catalog import GUARANTEES, METHODS, METRICS
from setveil.errors import BadParameter
from setveil.parameters.categories import Categories


class Recipe(Declaration):
    """Stand for any method.

    With a second paragraph.
    """

    name: ClassVar[str] = "recipe"

    k: int = parameter(public=True, ge=2, le=9, description="How many.")
    share: float = parameter(0.5, public=True, gt=0, lt=1, description="What part.")
    order: Literal["hard", "easy"] = parameter("hard", public=True, description="Which first.")
    strict: bool = parameter(True, public=False, description="Whether strict.")
    title: str = parameter("none", public=False, description="What it is called.")
    steps: Annotated[tuple[Literal["cut", "mix"], ...], BeforeValidator(split_commas)] = parameter(
        ("cut", "mix"), public=True, description="What is done."
    )
    names: Annotated[tuple[str, ...], BeforeValidator(split_commas)] = parameter((), public=False, description="Who.")
    secret: Categories = parameter(Categories({}), public=False, description="What nobody may know.")

    @model_validator(mode="after")
    def _consistent(self) -> Any:
        if self.k == 7 and self.strict:
            raise ValueError("k 7 is never strict")
        return self


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "recipe needs `k=`: How many. Allowed is a whole number, at least 2 and at most 9"),
        (
            {"k": 3, "l": 4},
            "recipe has no parameter 'l'; its parameters are: k, share, order, strict, title, steps, names, secret",
        ),
        ({"k": 1}, "recipe: k is 1; allowed is a whole number, at least 2 and at most 9"),
        ({"k": 10}, "recipe: k is 10; allowed is a whole number, at least 2 and at most 9"),
        ({"k": 2.5}, "recipe: k is 2.5; allowed is a whole number, at least 2 and at most 9"),
        ({"k": "many"}, "recipe: k is 'many'; allowed is a whole number, at least 2 and at most 9"),
        ({"k": None}, "recipe: k is None; allowed is a whole number, at least 2 and at most 9"),
        ({"k": 3, "share": 0}, "recipe: share is 0; allowed is a number, more than 0 and less than 1"),
        ({"k": 3, "share": "1"}, "recipe: share is '1'; allowed is a number, more than 0 and less than 1"),
        ({"k": 3, "share": float("nan")}, "recipe: share is nan; allowed is a number, more than 0 and less than 1"),
        ({"k": 3, "order": "soft"}, "recipe: order is 'soft'; allowed is hard | easy"),
        ({"k": 3, "strict": "perhaps"}, "recipe: strict is 'perhaps'; allowed is true or false"),
        ({"k": 3, "title": 7}, "recipe: title is 7; allowed is a text"),
        ({"k": 3, "steps": "cut,eat"}, "recipe: steps is 'eat'; allowed is a comma-separated list of cut | mix"),
        ({"k": 3, "steps": 7}, "recipe: steps is 7; allowed is a comma-separated list of cut | mix"),
        (
            {"k": 3, "secret": 7},
            "recipe: secret: expected a mapping from item to category (setveil.read_categories reads one from a file), not int",
        ),
        ({"k": 7}, "recipe: k 7 is never strict"),
        ({"k": "x" * 100}, f"recipe: k is '{'x' * 56}...; allowed is a whole number, at least 2 and at most 9"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_values_are_refused_in_one_sentence(given, sentence):
    with pytest.raises(BadParameter) as refused:
        Recipe(**given)
    assert str(refused.value) == sentence
    assert refused.value.exit_code == 2


def test_values_are_taken_as_python_gives_them_and_as_text():
    made = Recipe(k=3, share=0.25, order="easy", strict=False, steps=("mix",), names=("a", "b"))
    typed = Recipe(k="3", share="0.25", order="easy", strict="false", steps=" mix ,", names="a, b")
    assert made == typed
    assert typed.names == ("a", "b")
    assert hash(made) == hash(typed)
    assert made != Recipe(k=4)


def test_a_declaration_is_frozen_and_json():
    made = Recipe(k=3, secret={"milk": "dairy"})
    with pytest.raises(ValueError, match="frozen"):
        made.k = 4
    assert Recipe.model_validate_json(made.model_dump_json()) == made


def test_only_public_parameters_are_handed_over():
    made = Recipe(k=3, strict=False, title="mine", names="me", secret={"milk": "dairy"})
    assert made.public_parameters() == {"k": 3, "share": 0.5, "order": "hard", "steps": ["cut", "mix"]}


@pytest.mark.parametrize(
    ("name", "allowed", "default"),
    [
        ("k", "a whole number, at least 2 and at most 9", "None"),
        ("share", "a number, more than 0 and less than 1", "0.5"),
        ("order", "hard | easy", "hard"),
        ("strict", "true or false", "true"),
        ("title", "a text", "none"),
        ("steps", "a comma-separated list of cut | mix", "cut,mix"),
        ("names", "a comma-separated list of a text", "none"),
        ("secret", "a file of categories, or a text such as prefix:3, icd10cm:block or random:50", "none"),
    ],
)
def test_parameters_in_words(name, allowed, default):
    found = Parameter(Recipe, name)
    assert (found.allowed, found.default_text) == (allowed, default)
    assert found.required == (name == "k")
    assert found.description


def test_what_may_be_left_out_is_said_in_words():
    rules = Parameter(sv.Disassociation, "rules")
    assert (rules.allowed, rules.default_text, rules.required) == ("a file of itemsets", "none", False)


def test_parameters_stand_in_the_order_of_their_declaration():
    assert [p.name for p in Recipe.parameters()] == list(Recipe.model_fields)
    assert {p.name for p in Recipe.parameters() if p.public} == {"k", "share", "order", "steps"}
    assert Recipe.summary() == "Stand for any method."


def test_a_parameter_must_say_whether_it_is_public():
    with pytest.raises(TypeError, match="public"):
        parameter(2, description="How many.")

    with pytest.raises(TypeError, match=r"Careless\.k does not declare whether it is public"):

        class Careless(Declaration):
            name: ClassVar[str] = "careless"
            k: int = Field(2, description="How many.")

    with pytest.raises(TypeError, match=r"Plain\.k does not declare whether it is public"):

        class Plain(Declaration):
            name: ClassVar[str] = "plain"
            k: int = 2


@pytest.mark.parametrize("kind", [*METHODS.values(), *GUARANTEES.values(), *METRICS.values()], ids=lambda k: k.name)
def test_what_stands_in_the_catalog_declares_everything(kind):
    assert kind.summary().endswith(".")
    for found in kind.parameters():
        assert found.description.endswith(".")
        assert "typing" not in found.allowed
        assert "class" not in found.allowed
    with pytest.raises(BadParameter, match=f"{kind.name} has no parameter 'nonsense'|{kind.name} needs "):
        kind(nonsense=1)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("a,b", ("a", "b")), (" a , ,b,", ("a", "b")), ("", ()), (("a,b",), ("a,b",)), (["a"], ["a"]), (None, None)],
)
def test_split_commas_splits_texts_only(given, expected):
    assert split_commas(given) == expected


class Renamed(Declaration):
    """Stand for a method with a parameter that had another name."""

    name: ClassVar[str] = "renamed"
    renamed: ClassVar[dict[str, str]] = {"number": "k"}

    k: int = parameter(1, public=True, ge=1, description="How many.")


def test_a_former_name_is_accepted_with_a_note(notes):
    assert Renamed(number=3) == Renamed(k=3)
    assert notes() == "renamed: number is now called k; the former name is accepted until version 0.3"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"number": 0}, "renamed: k is 0; allowed is a whole number, at least 1"),
        ({"number": True}, "renamed: k is True; allowed is a whole number, at least 1"),
        ({"number": 2, "k": 2}, "renamed: number is the former name of k; give k only"),
        ({"size": 2}, "renamed has no parameter 'size'; its parameters are: k"),
    ],
)
def test_a_former_name_is_no_way_round_the_limits(given, sentence):
    with pytest.raises(BadParameter) as refused:
        Renamed(**given)
    assert str(refused.value) == sentence


def test_noted_parameters_get_their_current_names_without_a_note(notes):
    assert Renamed.with_current_names({"number": 3}) == {"k": 3}
    assert notes() == ""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rho": 2}, "insert: rho"),
        ({"rho": 0.5, "nothing": 1}, "has no parameter 'nothing'"),
        ({}, "insert needs `rho=`"),
        ({"rho": True}, "insert: rho"),
    ],
)
def test_values_are_refused_before_all_are_known(given, said):
    with pytest.raises(BadParameter, match=said):
        METHODS["insert"].refuse_values(given, later={"sensitive"})
    METHODS["insert"].refuse_values({"rho": 0.5}, later={"sensitive"})
    with pytest.raises(BadParameter, match="insert needs `sensitive=`"):
        METHODS["insert"].refuse_values({"rho": 0.5}, later=())
