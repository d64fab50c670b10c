"""The launcher makes its environment once, mends it when it must, and gets out of the way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.house import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.once

# A labs package that tells what it was started with; the environment needs nothing installed.
TELL = """
import json, os, sys
import nodes
print(json.dumps([sys.prefix, sys.argv[1:], os.getcwd(), nodes.__file__]))
sys.exit(int(os.environ.get("TELL_EXIT", "0")))
"""
LIMIT_S = 120.0


class Clone:
    """A folder with the real launcher in it and next to nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for package in ("labs", "nodes"):
            (folder / package).mkdir(parents=True)
            (folder / package / "__init__.py").touch()
        (folder / "labs" / "__main__.py").write_text(TELL)
        (folder / "requirements.txt").write_text("# nothing to install\n")
        shutil.copy(ROOT / "wiretable", folder)
        self.venv = folder / ".venv"

    def environ(self, **settings: str) -> dict[str, str]:
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("WIRETABLE_", "PYTHON"))
        }
        return {**inherited, "WIRETABLE_PYTHON": sys.executable, **settings}

    def start(self, *command: str, cwd: Path | None = None, **settings: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command or [str(self.folder / "wiretable")],
            cwd=cwd or self.folder,
            env=self.environ(**settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *command: str, cwd: Path | None = None, **settings: str) -> tuple[int, str, str]:
        process = self.start(*command, cwd=cwd, **settings)
        stdout, stderr = process.communicate(timeout=LIMIT_S)
        return process.returncode, stdout, stderr

    def pretend_ready(self) -> None:
        """An environment as a finished set-up leaves it, for tests that are not about making one."""
        (self.venv / "bin").mkdir(parents=True)
        (self.venv / "bin" / "python").symlink_to(sys.executable)
        (self.venv / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).parent}\n")
        shutil.copy(self.folder / "requirements.txt", self.venv / "requirements.stamp")
        (self.venv / "python.stamp").write_text(f"{sys.executable}\n")


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path / "a clone")


@pytest.fixture
def ready(clone: Clone) -> Clone:
    clone.pretend_ready()
    return clone


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A search path with all the launcher needs but a Python."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for tool in ("sh", "cmp", "id", "ln", "ls", "mkdir", "readlink", "rm", "rmdir", "sleep"):
        (folder / tool).symlink_to(shutil.which(tool) or tool)
    return folder


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)


def test_the_first_use_makes_the_environment_and_the_second_only_uses_it(clone: Clone) -> None:
    code, stdout, stderr = clone.run()
    assert (code, "first use" in stderr, str(clone.venv) in stdout) == (0, True, True), stderr
    code, stdout, stderr = clone.run()
    assert (code, stderr, str(clone.venv) in stdout) == (0, "", True)
    assert not list(clone.folder.glob(".venv.*"))


def test_two_first_uses_at_once_make_one_environment(clone: Clone) -> None:
    both = [clone.start() for _ in range(2)]
    ends = [process.communicate(timeout=LIMIT_S) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    assert sum("ready." in stderr for _, stderr in ends) == 1
    assert not list(clone.folder.glob(".venv.*"))


def test_an_interrupted_set_up_is_done_again(clone: Clone) -> None:
    process = clone.start()
    wait_for((clone.venv / "pyvenv.cfg").exists)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=LIMIT_S)
    assert (clone.folder / ".venv.lock").is_symlink()  # left behind by the dead
    code, stdout, stderr = clone.run()
    assert (code, "anew" in stderr, str(clone.venv) in stdout) == (0, True, True), stderr
    assert not list(clone.folder.glob(".venv.*"))


def test_control_c_during_set_up_leaves_no_lock(clone: Clone) -> None:
    process = clone.start()
    wait_for((clone.venv / "pyvenv.cfg").exists)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode
    assert not list(clone.folder.glob(".venv.lock*"))
    assert not (clone.venv / "requirements.stamp").exists()


def test_changed_requirements_are_installed(ready: Clone) -> None:
    (ready.folder / "requirements.txt").write_text("# other pins\n")
    code, _, stderr = ready.run()
    assert (code, "anew" in stderr) == (0, True)
    assert (ready.venv / "requirements.stamp").read_text() == "# other pins\n"


@pytest.mark.parametrize("spoilt", ["bin/python", "requirements.stamp"])
def test_an_environment_without_its_python_or_its_stamp_is_made_anew(
    ready: Clone, tools: Path, spoilt: str
) -> None:
    # No Python is on this search path, so that the set-up is seen to begin and costs nothing.
    assert ready.run(PATH=str(tools), WIRETABLE_PYTHON="")[0] == 0
    (ready.venv / spoilt).unlink()
    code, _, stderr = ready.run(PATH=str(tools), WIRETABLE_PYTHON="")
    assert (code, "no Python 3.11 or later was found" in stderr) == (1, True)


def test_another_python_asked_for_makes_the_environment_anew(ready: Clone) -> None:
    assert ready.run(WIRETABLE_PYTHON=sys.executable)[0] == 0
    code, _, stderr = ready.run(WIRETABLE_PYTHON="/nonexistent/python")
    assert (code, "does not run" in stderr) == (1, True)


def test_pip_that_fails_leaves_no_stamp_and_says_what_to_do(clone: Clone) -> None:
    (clone.folder / "requirements.txt").write_text("unhashed==1.0\n")
    code, stdout, stderr = clone.run(PIP_NO_INDEX="1")
    assert (code, stdout) == (1, "")
    assert "type the same again" in stderr.splitlines()[-1]
    assert not (clone.venv / "requirements.stamp").exists()


@pytest.mark.parametrize(
    ("python", "words"),
    [
        ("", "no Python 3.11 or later was found"),
        ("exit 1", "no Python 3.11 or later was found"),
        ("exit 3", "no Python 3.11 or later was found"),
        ('case $2 in *venv*) echo "$0"; exit 4;; esac; echo 3.11', "apt-get install python3.11-venv"),
    ],
    ids=["none", "a shim that fails", "too old", "Debian without python3-venv"],
)
def test_a_machine_without_a_fit_python_gets_one_clear_sentence(
    clone: Clone, tools: Path, python: str, words: str
) -> None:
    if python:
        (tools / "python3").write_text(f"#!/bin/sh\n{python}\n")
        (tools / "python3").chmod(0o755)
    code, stdout, stderr = clone.run(PATH=str(tools), WIRETABLE_PYTHON="")
    assert (code, stdout, stderr.count("\n")) == (1, "", 1)
    assert words in stderr
    assert not clone.venv.exists()


def test_a_wrong_setting_is_named(clone: Clone) -> None:
    code, _, stderr = clone.run(WIRETABLE_PYTHON="/nonexistent/python")
    assert (code, stderr.count("\n")) == (1, 1)
    assert "WIRETABLE_PYTHON=/nonexistent/python does not run" in stderr


def test_a_folder_that_is_no_environment_is_left_alone(clone: Clone) -> None:
    mine = clone.folder / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("words")
    code, _, stderr = clone.run(WIRETABLE_VENV=str(mine))
    assert (code, "is left alone" in stderr) == (1, True)
    assert (mine / "thesis.txt").read_text() == "words"


def test_it_works_from_another_folder_through_links_and_nothing_there_shadows_ours(
    ready: Clone, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "nodes").mkdir(parents=True)
    (elsewhere / "nodes" / "__init__.py").write_text("raise SystemExit('the wrong nodes')")
    (elsewhere / "first").symlink_to(ready.folder / "wiretable")
    (elsewhere / "second").symlink_to("first")
    code, stdout, stderr = ready.run("./second", cwd=elsewhere, PYTHONPATH=str(elsewhere))
    assert (code, stderr) == (0, "")
    assert str(elsewhere) in stdout
    assert str(ready.folder / "nodes") in stdout


def test_arguments_and_exit_code_pass_through(ready: Clone) -> None:
    arguments = ["run", "a b", "", "--x=*"]
    code, stdout, _ = ready.run(str(ready.folder / "wiretable"), *arguments, TELL_EXIT="5")
    assert code == 5
    assert '["run", "a b", "", "--x=*"]' in stdout


def test_the_environment_may_be_elsewhere(ready: Clone, tmp_path: Path) -> None:
    ready.venv.rename(tmp_path / "shared")
    code, stdout, stderr = ready.run(cwd=tmp_path, WIRETABLE_VENV="shared")
    assert (code, stderr, str(tmp_path / "shared") in stdout) == (0, "", True)
    assert not ready.venv.exists()
