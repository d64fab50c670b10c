"""Dialects: where a text is open, one frozen dataclass a game holds the choice (`key=value`)."""

from __future__ import annotations

import dataclasses
import difflib
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")


class DialectError(ValueError):
    """A setting that no dialect has. The text says which there are."""


def knobs(cls: type) -> dict[str, tuple[str, Any]]:
    """Every knob: its allowed values as one readable string, and its default."""
    hints = get_type_hints(cls)
    return {f.name: (_allowed(hints[f.name]), f.default) for f in dataclasses.fields(cls)}


def parse(cls: type[T], settings: tuple[str, ...] | list[str]) -> T:
    """Build a dialect from `key=value` strings; a later one wins."""
    hints = get_type_hints(cls)
    names = [f.name for f in dataclasses.fields(cls)]  # type: ignore[arg-type] # T is a dataclass
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            raise DialectError(f"'{setting}' is not of the form key=value; knobs are: {', '.join(names)}")
        if key not in names:
            near = difflib.get_close_matches(key, names, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"knobs are: {', '.join(names) or 'none'}"
            raise DialectError(f"no knob is called '{key}'; {hint}")
        values[key] = _value(key, text.strip(), hints[key])
    try:
        return cls(**values)
    except ValueError as error:  # a dialect's own __post_init__ may refuse a combination or a range
        raise DialectError(str(error)) from None


def settings(dialect: Any) -> dict[str, Any]:
    """A dialect as a plain dict, for run.json."""
    return dataclasses.asdict(dialect)


def _allowed(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return " | ".join(get_args(hint))
    return {bool: "on | off", int: "a whole number", float: "a number"}[hint]


def _value(key: str, text: str, hint: Any) -> Any:
    if get_origin(hint) is Literal and text in get_args(hint):
        return text
    if hint is bool and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if hint in (int, float):
        try:
            return hint(text)
        except ValueError:
            pass
    raise DialectError(f"'{text}' does not fit '{key}'; it takes {_allowed(hint)}")


_BOOLEANS = {
    "on": True,
    "true": True,
    "yes": True,
    "1": True,
    "off": False,
    "false": False,
    "no": False,
    "0": False,
}
