"""The samples are what their page says: whole games with nothing left undecoded, and errors by their ids."""

from __future__ import annotations

import pytest

from captures.messages import read
from captures.samples.make import FOLDER, SAMPLES, Sample, index
from nodes.game import load
from tests.test_vocabulary import KINDS

STRAY = {"malformed", "cut", "gap", "comment"}
WHOLE = [sample for sample in SAMPLES if not sample.checks]
ERRORS = [sample for sample in SAMPLES if sample.checks]


def name(sample: Sample) -> str:
    return sample.name


@pytest.mark.parametrize("sample", WHOLE, ids=name)
def test_a_whole_game_is_decoded_without_a_rest(sample: Sample) -> None:
    messages = read(sample.file)
    found = list(messages)
    assert messages.problem is None
    assert messages.notes() == []
    assert {seen.kind for seen in found} - {"ACK"} == set(KINDS[sample.game].split())
    assert {seen.game for seen in found} == {sample.game}
    assert all(seen.meaning and seen.fields and seen.check is None and seen.link for seen in found)
    names = {seat.name for seat in load(sample.game).seats(3)}
    assert {seen.src for seen in found} <= names


@pytest.mark.parametrize("sample", ERRORS, ids=name)
def test_errors_are_shown_by_the_clauses_they_break(sample: Sample) -> None:
    messages = read(sample.file)
    found = list(messages)
    assert messages.problem is None
    assert messages.notes() == []
    assert {seen.check for seen in found if seen.check} == set(sample.checks)
    # What is well-formed and yet refused, the node's own words in a comment tell.
    refused = [seen for seen in found if seen.check is None and seen.comments]
    assert refused
    assert all("refuses this" in comment for seen in refused for comment in seen.comments)


def test_the_ring_is_followed_hop_by_hop() -> None:
    found = list(read(FOLDER / "hearts.pcapng.gz"))
    assert [sum(seen.hop == hop for seen in found) for hop in (1, 2, 3, 4)] == [len(found) // 4] * 4
    assert not any(seen.repeat for seen in found)


def test_a_repeat_in_the_samples_is_marked() -> None:
    repeats = [seen.kind for seen in read(FOLDER / "briscola-errors.pcapng") if seen.repeat]
    assert "INIT" in repeats


def test_the_page_says_what_the_files_hold() -> None:
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == index()


def test_the_samples_are_small_and_all_listed() -> None:
    files = {path for path in FOLDER.iterdir() if ".pcapng" in path.name}
    assert files == {sample.file for sample in SAMPLES}
    assert sum(path.stat().st_size for path in files) < 1_500_000
