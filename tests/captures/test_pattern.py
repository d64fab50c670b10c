"""Patterns say what Python's own say, and never run away."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from captures.pattern import COUNT_MAX, PATTERN_MAX, STEPS_MAX, TEXT_MAX, Pattern, PatternError, Test

CASES = [
    ("abc", "xabcx", True),
    ("^abc$", "abc", True),
    ("^abc$", "abcd", False),
    ("a.c", "a\nc", False),
    ("[b-d]+x", "bdx", True),
    ("[^b-d]", "bcd", False),
    ("[]x]", "]", True),
    ("[a-]", "-", True),
    (r"\d{2,3}$", "x123", True),
    (r"^\d{2,3}$", "1234", False),
    (r"^a{2}$", "aa", True),
    (r"^a{2,}$", "a", False),
    (r"\w\s\S\D\W", "a xy.", True),
    (r"hearts/3\.len", "hearts/3.len", True),
    (r"hearts/3\.len", "hearts/3xlen", False),
    ("(?i)PLAY", "play_card", True),
    ("(?i)[A-C]x", "bX", True),
    ("play|use", "to use", True),
    ("^(a|b)*$", "abba", True),
    ("^(?:ab)+$", "abab", True),
    ("", "", True),
    ("a|", "b", True),
    (r"\[\]\\", "[]\\", True),
    ("Q♠", "plays Q♠ now", True),
]


@pytest.mark.parametrize(("pattern", "text", "fits"), CASES)
def test_a_pattern_fits(pattern: str, text: str, fits: bool) -> None:
    assert Pattern(pattern).search(text) is fits
    assert bool(re.search(pattern, text)) is fits


@pytest.mark.parametrize(
    ("pattern", "column"),
    [
        ("a(b", 3),
        ("a)b", 1),
        ("[ab", 3),
        ("*a", 0),
        ("a**", 2),
        ("a{2}{3}", 4),
        ("a{x}", 1),
        (f"a{{{COUNT_MAX + 1}}}", 1),
        ("a{3,2}", 1),
        (r"a\q", 1),
        ("a\\", 2),
        ("[z-a]", 0),
        (r"[\d-z]", 3),
        ("(?<name>a)", 1),
        ("(a)(?=b)", 4),
        (r"(a)\1", 3),
        ("x" * (PATTERN_MAX + 1), PATTERN_MAX),
        ("(" * 40, 32),
        ("(a{200}){200}", 0),
        ("((){255}){255}", 0),
    ],
)
def test_a_pattern_that_makes_no_sense_says_where(pattern: str, column: int) -> None:
    with pytest.raises(PatternError) as caught:
        Pattern(pattern)
    assert caught.value.column == column


@settings(deadline=None, max_examples=400)
@given(st.text("ab.()[]|*+?{2,3}^$\\d-", max_size=10), st.text("ab2-\n", max_size=8))
def test_what_both_engines_take_they_take_alike(pattern: str, text: str) -> None:
    try:
        ours = Pattern(pattern)
    except PatternError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            # Python's $ also fits before a last end of line.
            theirs = re.compile(pattern.replace("$", r"\Z"))
        except (re.error, FutureWarning):
            assume(False)
    assume("[" not in pattern or "$" not in pattern)
    assert ours.search(text) == bool(theirs.search(text))


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(a*)*b", "^(a?){100}a{100}$", "(.*)(.*)(.*)(.*)x"])
def test_the_work_grows_with_the_text_and_no_faster(pattern: str) -> None:
    """Counted, not timed: every character asks each step of the program at most once."""
    work = []
    for size in (500, 1000, 2000):
        asked: list[str] = []
        compiled = Pattern(pattern)
        for step in compiled._steps:
            if step.test is not None:
                step.test = _noting(step.test, asked)
        compiled.search("a" * size + "b")
        work.append(len(asked))
    assert work[-1] <= STEPS_MAX * 2001
    assert work[2] <= 2.1 * work[1] + STEPS_MAX
    assert work[1] <= 2.1 * work[0] + STEPS_MAX


def _noting(test: Test, asked: list[str]) -> Test:
    def noted(char: str) -> bool:
        asked.append(char)
        return test(char)

    return noted


def test_only_the_beginning_of_a_huge_text_is_looked_at() -> None:
    assert not Pattern("x").search("a" * TEXT_MAX + "x")
    assert Pattern("x").search("a" * (TEXT_MAX - 1) + "x")
