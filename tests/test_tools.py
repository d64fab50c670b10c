"""A missing tool skips with the line to type, and fails under CI."""

from __future__ import annotations

import pytest

from tests.tools import how_many, require_tool


def test_a_tool_that_is_there_is_found() -> None:
    assert require_tool("sh").endswith("/sh")


def test_a_missing_tool_skips_with_the_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install -y no-such-tool"):
        require_tool("no-such-tool")


def test_a_missing_tool_fails_under_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no-such-tool is not installed"):
        require_tool("no-such-tool")


def test_the_full_run_tries_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WIRETABLE_FULL", raising=False)
    assert how_many(3, 300) == 3
    monkeypatch.setenv("WIRETABLE_FULL", "1")
    assert how_many(3, 300) == 300
