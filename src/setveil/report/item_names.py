"""Names beside items that are codes, in everything that a report shows."""

from __future__ import annotations

from typing import Any

from setveil.parameters.item_names import ItemNames

_WITH_LABELS = ("pictures", "verdict", "before", "account", "metrics", "method", "guarantee", "examples")
"""The entries of a dossier that hold labels of the data."""
_WITHOUT_LABELS = ("name", "status", "guarantee", "kind", "id", "how")
"""Keys whose values are words of this program, which could be labels too."""


def with_item_names(dossier: dict[str, Any]) -> dict[str, Any]:
    """Return a dossier with names beside the labels that have one."""
    names = ItemNames(dossier.get("item_names", {}))
    if not names:
        return dossier
    named = {key: _named(value, names) if key in _WITH_LABELS else value for key, value in dossier.items()}
    return named | {"names": [_with_missing(found, names) for found in dossier.get("names", [])]}


def _with_missing(found: dict[str, Any], names: ItemNames) -> dict[str, Any]:
    """Return a list of names in which the items that do not occur have names."""
    missing = [{key: label and names.text(label) for key, label in one.items()} for one in found["missing"]]
    return found | {"missing": missing}


def _named(value: Any, names: ItemNames) -> Any:
    if isinstance(value, str):
        return names.text(value) if value in names else names.in_sentence(value)
    if isinstance(value, dict):
        return {key: part if key in _WITHOUT_LABELS else _named(part, names) for key, part in value.items()}
    return [_named(part, names) for part in value] if isinstance(value, list | tuple) else value
