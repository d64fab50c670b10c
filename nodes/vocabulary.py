"""The one vocabulary: what a field is called, everywhere.

A field has the same name in the codec, the Scapy layer, the Wireshark filter, fault rules, checks and
JSON: `hearts.origin`, `briscola.card`, `connect4.move`. Each game's fields.py lists its own.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Sort = Literal["integer", "number", "text", "flag", "list"]


@dataclass(frozen=True, slots=True)
class Field:
    """One field. `values` names the values that have names of their own."""

    sort: Sort
    means: str
    values: Mapping[int, str] | Mapping[str, str] = field(default_factory=dict)

    def name_of(self, value: object) -> str:
        """A value as people read it."""
        if isinstance(value, list | tuple):
            return " ".join(self.name_of(one) for one in value)
        return next((known for one, known in self.values.items() if one == value), str(value))

    def value_of(self, name: str) -> int | str | None:
        """The value that is called so, whatever its case; None if none is."""
        wanted = name.casefold()
        return next((value for value, known in self.values.items() if known.casefold() == wanted), None)


Fields = Mapping[str, Field]


def fields_of(game: str) -> Fields:
    """A game's fields, by name."""
    fields: Fields = importlib.import_module(f"nodes.{game}.fields").FIELDS
    return fields
