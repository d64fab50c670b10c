"""`wiretable test` finds what is there, says what is missing, and ends with the right exit code."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from labs import testing
from labs.testing import Outcome, Verdict, exit_code, find_python, install_packages, under_ci

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("verdicts", "ci", "expected"),
    [
        ([Verdict.PASSED], False, 0),
        ([Verdict.PASSED, Verdict.FAILED, Verdict.PASSED], False, 1),
        ([Verdict.PASSED, Verdict.NOT_RUN], False, 0),
        ([Verdict.PASSED, Verdict.NOT_RUN], True, 1),
        ([Verdict.FAILED], True, 1),
    ],
)
def test_what_could_not_run_is_a_failure_under_ci_only(
    verdicts: list[Verdict], ci: bool, expected: int
) -> None:
    assert exit_code([Outcome("stage", verdict, 0.0) for verdict in verdicts], ci=ci) == expected


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("1", True), ("", False), ("false", False)])
def test_ci_says_so_in_the_environment(value: str, expected: bool) -> None:
    assert under_ci({"CI": value}) is expected
    assert not under_ci({})


def fake_python(folder: Path, version: str, exit_status: int) -> Path:
    folder.mkdir(parents=True)
    python = folder / f"python{version}"
    python.write_text(f"#!/bin/sh\nexit {exit_status}\n")
    python.chmod(0o755)
    return python


def test_a_shim_that_does_not_run_is_passed_over_for_pyenvs_own(tmp_path: Path) -> None:
    fake_python(tmp_path / "shims", "3.12", 127)
    real = fake_python(tmp_path / "pyenv" / "versions" / "3.12.1" / "bin", "3.12", 0)
    environ = {"PATH": str(tmp_path / "shims"), "PYENV_ROOT": str(tmp_path / "pyenv")}
    assert find_python("3.12", environ) == real
    assert find_python("3.13", environ) is None


def test_a_missing_program_gets_the_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "DEBIAN_PACKAGES", {"no-such-program": "no-such-package"})
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    screen = StringIO()
    verdict, note = install_packages(Console(file=screen, width=200))
    assert (verdict, note) == (Verdict.NOT_RUN, "missing: no-such-package")
    assert "sudo apt-get install --yes --no-install-recommends no-such-package" in screen.getvalue()
