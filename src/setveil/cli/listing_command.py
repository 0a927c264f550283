"""`setveil methods`, `guarantees` and `metrics`: the catalog."""

from __future__ import annotations

from typing import Any

from setveil.catalog import GUARANTEES, METHODS, METRICS, named
from setveil.cli.options import Option, argument
from setveil.cli.show import say, say_json, say_table
from setveil.presence import catalog as joined

TABLES: dict[str, dict[str, Any]] = {"methods": METHODS, "guarantees": GUARANTEES, "metrics": METRICS}
JOINED: dict[str, dict[str, Any]] = {
    "methods": joined.METHODS,
    "guarantees": joined.GUARANTEES,
    "metrics": joined.METRICS,
}
"""What is about tables that two providers join, and stands under a heading of its own."""
ABOUT = ("title", "paper", "truthful", "needs", "unit", "better", "about", "formula", "blind_to")
TEXT = {
    "methods": "Example:\n  setveil methods part-swap",
    "guarantees": "Example:\n  setveil guarantees hidden-tendency",
    "metrics": "Example:\n  setveil metrics tendency-posterior",
}


def options(name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [argument("name", f"Tell about this one: {' | '.join(_all(name))}.", default=None)]


def run(name: str, given: dict[str, Any]) -> int:
    """List, or tell about one."""
    if given["name"] is None:
        if given["json"]:
            say_json([_plain(kind) for kind in _all(name).values()])
            return 0
        columns = ["name", "what it does"]
        say_table(columns, [[kind.name, kind.summary()] for kind in TABLES[name].values()])
        if name in JOINED:
            say()
            say("of tables that two providers join:")
            say_table(columns, [[kind.name, kind.summary()] for kind in JOINED[name].values()])
        say(f"more: setveil {name} NAME")
        return 0
    kind = named(name.removesuffix("s"), _all(name), given["name"])
    plain = _plain(kind)
    if given["json"]:
        say_json(plain)
        return 0
    say(f"{kind.name}: {kind.summary()}")
    say()
    for key, value in plain.items():
        if key in ABOUT and value:
            say(f"{key.replace('_', ' ')}: {', '.join(value) if isinstance(value, list | tuple) else value}")
    if plain["parameters"]:
        columns = ["name", "allowed", "default", "public", "description"]
        say_table(columns, [[p[c] for c in columns] for p in plain["parameters"]])
    return 0


def _all(name: str) -> dict[str, Any]:
    return TABLES[name] | JOINED.get(name, {})


def _plain(kind: Any) -> dict[str, Any]:
    about = {key: getattr(kind, key) for key in ABOUT if hasattr(kind, key)}
    parameters = [
        {
            "name": p.name,
            "allowed": p.allowed,
            "default": "required" if p.required else p.default_text,
            "public": "yes" if p.public else "no, but the release shows it" if p.inferable else "no",
            "description": p.description,
        }
        for p in kind.parameters()
    ]
    return {"name": kind.name, "summary": kind.summary(), **about, "parameters": parameters}
