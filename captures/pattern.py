"""Regular expressions that cannot run away: a text is matched in one pass, whatever the pattern.

Python's own engine tries alternatives one after the other, which a pattern like `(a+)+$` makes take for ever;
here all are followed at once (Thompson's construction). The dialect is the common one:

    .  [a-z]  [^0-9]  \\d \\w \\s \\D \\W \\S  \\. …     one character
    * + ?  {2}  {2,}  {2,5}                         how often
    ab  a|b  (…)  ^  $                              sequence, choice, group, start, end
    (?i) in front                                   capitals do not matter

There are no references to groups and no look-around.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

PATTERN_MAX = 256  # characters
DEPTH_MAX = 32  # of groups
COUNT_MAX = 255  # in {…}
STEPS_MAX = 512  # of the program a pattern becomes: counts multiply
TEXT_MAX = 4096  # characters of a text that are looked at

Test = Callable[[str], bool]

_CLASSES: dict[str, Test] = {
    "d": str.isdecimal,
    "w": lambda c: c.isalnum() or c == "_",
    "s": str.isspace,
    "D": lambda c: not c.isdecimal(),
    "W": lambda c: not (c.isalnum() or c == "_"),
    "S": lambda c: not c.isspace(),
}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}
_COUNT = re.compile(r"\{([0-9]{1,4})(,([0-9]{0,4}))?\}")


class PatternError(ValueError):
    """A pattern that makes no sense. `column` is where, from 0."""

    def __init__(self, text: str, column: int) -> None:
        super().__init__(text)
        self.column = column


@dataclass(frozen=True, slots=True)
class _One:
    test: Test


@dataclass(frozen=True, slots=True)
class _Edge:
    start: bool


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple[_Node, ...]


@dataclass(frozen=True, slots=True)
class _Choice:
    parts: tuple[_Node, ...]


@dataclass(frozen=True, slots=True)
class _Repeat:
    part: _Node
    least: int
    most: int | None


_Node = _One | _Edge | _Sequence | _Choice | _Repeat


@dataclass(slots=True)
class _Step:
    """Takes a character by `test`, or passes an `edge`, or goes on at once; to each of `then`."""

    test: Test | None = None
    edge: bool | None = None
    then: tuple[int, ...] = ()


class Pattern:
    """A compiled pattern."""

    def __init__(self, text: str) -> None:
        self._folded = text.startswith("(?i)")
        self._steps: list[_Step] = []
        self._compile(_Parser(text, self._folded).parse())
        self._end = len(self._steps)

    def search(self, text: str) -> bool:
        """Whether the pattern fits anywhere in the text."""
        text = text[:TEXT_MAX]
        if self._folded:
            text = text.lower()
        states: set[int] = set()
        for at in range(len(text) + 1):
            states = self._spread({0, *states}, at == 0, at == len(text))
            if self._end in states:
                return True
            if at < len(text):
                states = self._take(states, text[at])
        return False

    def _take(self, states: set[int], char: str) -> set[int]:
        """Where a character leads to."""
        found: set[int] = set()
        for state in states:
            step = self._steps[state]
            if step.test is not None and step.test(char):
                found.update(step.then)
        return found

    def _spread(self, states: set[int], at_start: bool, at_end: bool) -> set[int]:
        """All that is reached without a character."""
        found = set(states)
        waiting = list(states)
        while waiting:
            state = waiting.pop()
            if state == self._end:
                continue
            step = self._steps[state]
            passes = step.edge is None or (at_start if step.edge else at_end)
            if step.test is None and passes:
                fresh = [there for there in step.then if there not in found]
                found.update(fresh)
                waiting += fresh
        return found

    def _compile(self, node: _Node) -> None:
        match node:
            case _One(test):
                self._add(test=test)
            case _Edge(start):
                self._add(edge=start)
            case _Sequence(parts):
                self._add()  # even an empty group counts, so that no count of them is free
                for part in parts:
                    self._compile(part)
            case _Choice(parts):
                fork = self._add()
                begins, ends = [], []
                for part in parts:
                    begins.append(len(self._steps))
                    self._compile(part)
                    ends.append(self._add())
                fork.then = tuple(begins)
                for end in ends:
                    end.then = (len(self._steps),)
            case _Repeat(part, least, most):
                for _ in range(least):
                    self._compile(part)
                if most is None:
                    back = len(self._steps)
                    fork = self._add()
                    self._compile(part)
                    self._add().then = (back,)
                    fork.then = (back + 1, len(self._steps))
                else:
                    forks = []
                    for _ in range(most - least):
                        forks.append((self._add(), len(self._steps)))
                        self._compile(part)
                    for fork, inside in forks:
                        fork.then = (inside, len(self._steps))

    def _add(self, test: Test | None = None, edge: bool | None = None) -> _Step:
        if len(self._steps) >= STEPS_MAX:
            raise PatternError("the pattern says too much: fewer or smaller counts", 0)
        step = _Step(test, edge, (len(self._steps) + 1,))
        self._steps.append(step)
        return step


class _Parser:
    def __init__(self, text: str, folded: bool) -> None:
        if len(text) > PATTERN_MAX:
            raise PatternError(f"a pattern has at most {PATTERN_MAX} characters", PATTERN_MAX)
        self._text = text
        self._folded = folded
        self._at = 4 if folded else 0
        self._depth = 0

    def parse(self) -> _Node:
        node = self._choice()
        if self._at < len(self._text):
            self._fail("this ) closes nothing")
        return node

    def _fail(self, text: str, at: int | None = None) -> NoReturn:
        raise PatternError(text, self._at if at is None else at)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self, missing: str) -> str:
        char = self._peek()
        if not char:
            self._fail(missing)
        self._at += 1
        return char

    def _choice(self) -> _Node:
        parts = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else _Choice(tuple(parts))

    def _sequence(self) -> _Node:
        parts = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated())
        return _Sequence(tuple(parts))

    def _repeated(self) -> _Node:
        node = self._atom()
        char = self._peek()
        if char in ("*", "+", "?") and char:
            self._at += 1
            node = _Repeat(node, int(char == "+"), 1 if char == "?" else None)
        elif char == "{":
            count = _COUNT.match(self._text, self._at)
            if count is None:
                self._fail("after { come how often: {2}, {2,} or {2,5}; a brace itself is \\{")
            least = int(count[1])
            most = least if count[2] is None else int(count[3]) if count[3] else None
            if least > COUNT_MAX or (most is not None and not least <= most <= COUNT_MAX):
                self._fail(f"a count goes from the less to the more, {COUNT_MAX} at most")
            self._at = count.end()
            node = _Repeat(node, least, most)
        if self._peek() in ("*", "+", "?", "{") and self._peek():
            self._fail("this repeats a repeat")
        return node

    def _atom(self) -> _Node:
        begin = self._at
        char = self._next("")
        match char:
            case "(":
                return self._group(begin)
            case "[":
                return _One(self._set(begin))
            case ".":
                return _One(lambda c: c != "\n")
            case "^" | "$":
                return _Edge(char == "^")
            case "*" | "+" | "?" | "{":
                self._fail(f"there is nothing before {char} to repeat", begin)
            case "\\":
                return _One(self._escape())
        return _One(self._literal(char))

    def _group(self, begin: int) -> _Node:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            self._fail(f"groups lie at most {DEPTH_MAX} deep", begin)
        if self._text.startswith("?:", self._at):
            self._at += 2
        elif self._peek() == "?":
            self._fail("of groups that begin with (? only (?: is known, and (?i) in front")
        node = self._choice()
        if self._next("a ( is not closed") != ")":
            raise AssertionError("only ) ends a choice within a group")
        self._depth -= 1
        return node

    def _literal(self, char: str) -> Test:
        wanted = char.lower() if self._folded else char
        return lambda c: c == wanted

    def _escape(self) -> Test:
        char = self._next("a \\ ends the pattern")
        if char in _CLASSES:
            return _CLASSES[char]
        if char.isalnum() and char not in _CONTROLS:
            self._fail(f"\\{char} is not known here", self._at - 2)
        return self._literal(_CONTROLS.get(char, char))

    def _set(self, begin: int) -> Test:
        negated = self._peek() == "^"
        self._at += negated
        tests: list[Test] = []
        while not tests or self._peek() != "]":
            low = self._next("a [ is not closed")
            if low == "\\":
                tests.append(self._escape())
                if self._peek() == "-" and self._text[self._at + 1 : self._at + 2] != "]":
                    self._fail("a range has plain characters at both ends; a - itself is \\- or the last one")
            elif self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("", "]"):
                self._at += 1
                tests.append(self._range(low, self._next(""), begin))
            else:
                tests.append(self._literal(low))
        self._at += 1
        return lambda c: any(test(c) for test in tests) != negated

    def _range(self, low: str, high: str, begin: int) -> Test:
        if low > high or high == "\\":
            self._fail(f"{low}-{high} is no range", begin)
        if self._folded:
            return lambda c: low <= c <= high or low <= c.upper() <= high
        return lambda c: low <= c <= high
