"""The filter language: which messages are meant, in the words of the one vocabulary.

    hearts.type == PLAY_CARD and hearts.origin == m2
    hearts.cards == Q♠ or hearts.card in {Q♠, A♠, K♠}
    holdem.players.name contains "ada" and not kind == result
    check matches "^hearts/3" or frame.time > 2.5

    FIELD                       the message has it; a flag: it is set; a game's name: it is of that game
    FIELD == VALUE              also !=, <, <=, >, >=
    FIELD in {VALUE, VALUE}     any of them
    FIELD contains VALUE        a piece of a text, an element of a list
    FIELD matches "PATTERN"     see captures/pattern.py
    not …   … and …   … or …    in this order of strength; also !, &&, ||; ( … ) as usual

A value is a number (also 0x3c), a word, or a text in quotation marks; where a field's values have names
(`wiretable decode --fields`), the name stands for the value, whatever its case. A list fits if any of its
elements does. A field that a message lacks fits nothing; `!=` is the opposite of `==` where it is there.

parse() and Filter know nothing of captures: whoever asks hands in a function from name to value.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from captures.pattern import Pattern, PatternError
from nodes.game import NAMES as GAMES
from nodes.vocabulary import Field, fields_of

LENGTH_MAX = 2000  # characters
DEPTH_MAX = 50  # of parentheses and nots

# What every message has beside its game's fields.
COMMON: Mapping[str, Field] = {
    "frame.number": Field("integer", "the number of the frame that completed the message"),
    "frame.time": Field("number", "seconds since the first frame"),
    "link": Field("text", "the link it was seen on: m0→m1"),
    "hop": Field("integer", "on the ring: how many links it has gone"),
    "src": Field("text", "who sent it: a node, or address and port"),
    "dst": Field("text", "to whom"),
    "game": Field("text", "which game it belongs to", {name: name for name in GAMES}),
    "kind": Field("text", "the sort of message: PLAY_CARD, USE_C, genmove, malformed"),
    "check": Field("text", "the id of the clause that refuses it"),
    "repeat": Field("flag", "whether it was sent or seen before"),
}

Lookup = Callable[[str], object]
Names = Mapping[str, Field]


@cache
def vocabulary() -> Names:
    """Every name a filter may use."""
    found = dict(COMMON)
    for game in GAMES:
        found[game] = Field("flag", f"whether the message is of {game}")
        found |= {f"{game}.{name}": each for name, each in fields_of(game).items()}
    return found


class FilterError(ValueError):
    """An expression that makes no sense. str() shows where, with a caret, and what was probably meant."""

    def __init__(self, text: str, expression: str, column: int) -> None:
        self.text = text
        self.expression = expression
        self.column = min(column, len(expression))
        # One line, however the expression was broken; the caret must stay under its place.
        shown = "".join(c if c.isprintable() else " " for c in expression)
        super().__init__(f"{text}\n  {shown}\n  {' ' * self.column}^")


@dataclass(frozen=True, slots=True)
class Literal:
    """A value as it was written."""

    text: str
    quoted: bool = False

    def __str__(self) -> str:
        if not self.quoted:
            return self.text
        escaped = self.text.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'


@dataclass(frozen=True, slots=True)
class Exists:
    name: str

    def __str__(self) -> str:
        return self.name

    def matches(self, lookup: Lookup) -> bool:
        value = lookup(self.name)
        return value is not None and value is not False and value != []


@dataclass(frozen=True, slots=True)
class Compare:
    """`test` is made from the rest when it is parsed."""

    name: str
    relation: str
    values: tuple[Literal, ...]
    test: Callable[[object], bool] = field(compare=False, repr=False)

    def __str__(self) -> str:
        if self.relation == "in":
            return f"{self.name} in {{{', '.join(map(str, self.values))}}}"
        return f"{self.name} {self.relation} {self.values[0]}"

    def matches(self, lookup: Lookup) -> bool:
        found = list(_elements(lookup(self.name)))
        if self.relation == "!=":
            return bool(found) and not any(map(self.test, found))
        return any(map(self.test, found))


@dataclass(frozen=True, slots=True)
class Not:
    part: Node

    def __str__(self) -> str:
        inner = f"({self.part})" if isinstance(self.part, And | Or) else str(self.part)
        return f"not {inner}"

    def matches(self, lookup: Lookup) -> bool:
        return not self.part.matches(lookup)


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return " and ".join(f"({part})" if isinstance(part, And | Or) else str(part) for part in self.parts)

    def matches(self, lookup: Lookup) -> bool:
        return all(part.matches(lookup) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return " or ".join(f"({part})" if isinstance(part, Or) else str(part) for part in self.parts)

    def matches(self, lookup: Lookup) -> bool:
        return any(part.matches(lookup) for part in self.parts)


Node = Exists | Compare | Not | And | Or


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed expression. str() writes it so that parse() reads the same again."""

    node: Node

    def __str__(self) -> str:
        return str(self.node)

    def matches(self, lookup: Lookup) -> bool:
        """Whether a message fits; `lookup` gives the value of a name, None where it has none."""
        return self.node.matches(lookup)

    @property
    def names(self) -> frozenset[str]:
        """Every name it asks for."""
        return frozenset(_names(self.node))


def parse(text: str, names: Names | None = None) -> Filter:
    """Read an expression, or raise FilterError. `names` are those it may use; default: vocabulary()."""
    return Filter(_Parser(text, vocabulary() if names is None else names).parse())


def reach(fields: object, path: str) -> object:
    """The value at a dotted path; through lists, the values of all elements, as a list."""
    name, dot, rest = path.partition(".")
    if isinstance(fields, list | tuple):
        found = [value for one in fields if (value := reach(one, path)) is not None]
        return list(_elements(found)) or None
    if not isinstance(fields, Mapping):
        return None
    if path in fields:
        return fields[path]
    value = fields.get(name)
    return reach(value, rest) if dot else value


def _elements(value: object) -> Iterator[object]:
    """A value by itself, or each one in a list, however deep. A message's JSON is at most 64 deep."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from _elements(one)
    elif value is not None and not isinstance(value, Mapping):
        yield value


def _names(node: Node) -> Iterator[str]:
    match node:
        case Exists(name):
            yield name
        case Compare(name=name):
            yield name
        case Not(part):
            yield from _names(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _names(part)


class _Token(NamedTuple):
    sort: str  # word, text, sign, end
    text: str
    column: int


_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<text>"(?:[^"\\]|\\.)*")
      | (?P<sign>==|!=|<=|>=|&&|\|\||[<>=!(){},])
      | (?P<word>[^\s"<>=!(){},&|]+)
      | (?P<wrong>.)""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS = {"and", "or", "not", "in", "contains", "matches"}
_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.eq,  # turned round by Compare
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,18}(?:\.[0-9]{0,9})?)")
_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


class _Parser:
    def __init__(self, text: str, names: Names) -> None:
        if len(text) > LENGTH_MAX:
            raise FilterError(f"a filter has at most {LENGTH_MAX} characters", text[:60] + " …", 0)
        self._expression = text
        self._names = names
        self._tokens = list(self._cut(text))
        self._at = 0
        self._depth = 0

    def parse(self) -> Node:
        node = self._or()
        token = self._peek()
        if token.sort != "end":
            if token.text == ")":
                raise self._error("this ) closes nothing", token)
            raise self._error(
                f"'{token.text}' comes after a whole condition: join conditions by and, or", token
            )
        return node

    def _cut(self, text: str) -> Iterator[_Token]:
        for found in _TOKEN.finditer(text):
            sort = found.lastgroup or ""
            if sort == "wrong":
                what = 'a " is not closed' if found[0] == '"' else f"'{found[0]}' alone means nothing"
                raise FilterError(what, text, found.start())
            if sort != "space":
                yield _Token(sort, found[0], found.start())
        yield _Token("end", "", len(text))

    def _error(self, text: str, token: _Token, inside: int = 0) -> FilterError:
        return FilterError(text, self._expression, token.column + inside)

    def _peek(self) -> _Token:
        return self._tokens[self._at]

    def _next(self) -> _Token:
        token = self._tokens[self._at]
        if token.sort != "end":
            self._at += 1
        return token

    def _accept(self, *texts: str) -> bool:
        """Take a keyword or a sign, if it comes next."""
        token = self._peek()
        if token.sort in ("word", "sign") and token.text in texts:
            self._at += 1
            return True
        return False

    def _or(self) -> Node:
        parts = [self._and()]
        while self._accept("or", "||"):
            parts.append(self._and())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _and(self) -> Node:
        parts = [self._not()]
        while self._accept("and", "&&"):
            parts.append(self._not())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _not(self) -> Node:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise self._error(f"parentheses and nots lie at most {DEPTH_MAX} deep", self._peek())
        if self._accept("not", "!"):
            node: Node = Not(self._not())
        elif self._accept("("):
            node = self._or()
            if not self._accept(")"):
                raise self._error("here a ) is missing", self._peek())
        else:
            node = self._condition()
        self._depth -= 1
        return node

    def _condition(self) -> Node:
        token = self._next()
        if token.sort != "word" or token.text in _KEYWORDS:
            what = "the expression ends" if token.sort == "end" else f"there is '{token.text}'"
            raise self._error(f"{what} where the name of a field is due", token)
        name = token.text
        if name not in self._names:
            raise self._error(f"there is no field '{_short(name)}'{_nearest(name, self._names)}", token)
        relation = self._peek()
        if relation.sort == "sign" and relation.text in _RELATIONS:
            self._at += 1
            return self._comparison(name, relation.text)
        if relation.text == "=" and relation.sort == "sign":
            raise self._error("equality is written ==", relation)
        if self._accept("in"):
            return self._membership(name)
        if self._accept("contains"):
            return self._contains(name)
        if self._accept("matches"):
            return self._matches(name)
        return Exists(name)

    def _comparison(self, name: str, relation: str) -> Node:
        literal, token = self._literal()
        wanted = self._value(name, literal, token)
        if relation not in ("==", "!=") and isinstance(wanted, bool):
            raise self._error(f"{name} is true or false: only == and != ask for that", token)
        return Compare(name, relation, (literal,), _tester(relation, wanted))

    def _membership(self, name: str) -> Node:
        if not self._accept("{"):
            raise self._error("after in comes a set: {VALUE, VALUE}", self._peek())
        values, tests = [], []
        while True:
            literal, token = self._literal()
            values.append(literal)
            tests.append(_tester("==", self._value(name, literal, token)))
            if self._accept("}"):
                return Compare(name, "in", tuple(values), lambda found: any(test(found) for test in tests))
            if not self._accept(","):
                raise self._error("the values of a set are parted by commas, and a } ends it", self._peek())

    def _contains(self, name: str) -> Node:
        asked = self._names[name]
        literal, token = self._literal()
        if asked.sort in ("integer", "number", "flag"):
            raise self._error(f"{name} is no text and no list: it contains nothing", token)
        wanted = self._value(name, literal, token)

        def test(found: object) -> bool:
            return literal.text in found if isinstance(found, str) else found == wanted

        return Compare(name, "contains", (literal,), test)

    def _matches(self, name: str) -> Node:
        literal, token = self._literal()
        if self._names[name].sort in ("integer", "number", "flag"):
            raise self._error(f"{name} is no text: a pattern fits texts only", token)
        try:
            pattern = Pattern(literal.text)
        except PatternError as error:
            raise self._error(str(error), token, error.column + literal.quoted) from None
        return Compare(
            name, "matches", (literal,), lambda found: isinstance(found, str) and pattern.search(found)
        )

    def _literal(self) -> tuple[Literal, _Token]:
        token = self._next()
        if token.sort == "word":
            return Literal(token.text), token
        if token.sort == "text":
            # Only these two are escaped, so that patterns, full of backslashes, are written as they are.
            return Literal(re.sub(r'\\(["\\])', r"\1", token.text[1:-1]), quoted=True), token
        what = "the expression ends" if token.sort == "end" else f"there is '{token.text}'"
        raise self._error(f"{what} where a value is due", token)

    def _value(self, name: str, literal: Literal, token: _Token) -> object:
        """The value that a literal stands for, by the field it is compared with."""
        asked = self._names[name]
        text = literal.text
        named = asked.value_of(text)
        if named is not None:
            return named
        if asked.sort == "flag":
            if text.lower() not in _FLAGS:
                raise self._error(f"{name} is true or false, not '{_short(text)}'", token)
            return _FLAGS[text.lower()]
        if asked.sort == "text":
            return text
        number = _NUMBER.fullmatch(text)
        if number is not None and not literal.quoted:
            return _number(text)
        if asked.sort == "list" and not asked.values:
            return text
        if asked.values:
            names = [str(known) for known in asked.values.values()]
            raise self._error(f"{name} has no value called '{_short(text)}'{_nearest(text, names)}", token)
        raise self._error(f"{name} is a number, '{_short(text)}' is none", token)


def _tester(relation: str, wanted: object) -> Callable[[object], bool]:
    relate = _RELATIONS[relation]

    def test(found: object) -> bool:
        if isinstance(found, bool) != isinstance(wanted, bool):
            return False
        if isinstance(wanted, str):
            return isinstance(found, str) and relate(found, wanted)
        return isinstance(found, int | float) and relate(found, wanted)

    return test


def _number(text: str) -> int | float:
    if "x" in text or "X" in text:
        return int(text, 16)
    return float(text) if "." in text else int(text)


def _nearest(wrong: str, names: Iterable[str]) -> str:
    """Suggest what was probably meant."""
    folded = {name.casefold(): name for name in names}
    found = difflib.get_close_matches(wrong[:60].casefold(), folded, 3, 0.5)
    if not found:
        # `origin` alone: the field of which game?
        found = [name for name in folded if name.rpartition(".")[2] == wrong.casefold()][:3]
    return f"; did you mean {' or '.join(folded[name] for name in found)}?" if found else ""


def _short(text: str) -> str:
    shown = "".join(c if c.isprintable() else " " for c in text)
    return shown if len(shown) <= 40 else shown[:40] + "…"
