"""`wiretable test`: set up what the tests need, run every gate, say at the end what passed.

A later stage runs even when an earlier one failed, so that one run tells all there is to mend.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from nodes.game import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements-test.txt"

# The program a test needs, and the Debian package that has it.
DEBIAN_PACKAGES = {"tshark": "tshark"}

PYTHONS = ("3.11", "3.12", "3.13")

CORE_FILES = (
    "nodes/core.py",
    *(
        f"nodes/{game}/{part}.py"
        for game in NAMES
        for part in ("checks", "dialect", "messages", "transport", "rules", "roles", "server", "client")
    ),
)


class Verdict(Enum):
    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "could not run"  # a tool is missing: a failure under CI only


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one stage ended."""

    stage: str
    verdict: Verdict
    seconds: float
    note: str = ""


def under_ci(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a tool that is missing counts as a failure."""
    return environ.get("CI", "").lower() in {"1", "true", "yes"}


def exit_code(outcomes: Iterable[Outcome], *, ci: bool) -> int:
    """0 if all is well; what could not run is well enough on a developer's machine."""
    bad = {Verdict.FAILED, Verdict.NOT_RUN} if ci else {Verdict.FAILED}
    return int(any(outcome.verdict in bad for outcome in outcomes))


def run_tests(pytest_args: tuple[str, ...], *, quick: bool = False, full: bool = False) -> int:
    """Run every gate and return the exit code.

    With `pytest_args` only pytest runs, with them. `quick` leaves out coverage and the other Pythons;
    `full` runs on the other Pythons also the tests marked `once`, and the long runs at their full length.
    """
    if full:
        os.environ["WIRETABLE_FULL"] = "1"  # read by tests/tools.py
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A background job is started deaf to Ctrl-C, and so is all it starts; the tests of it need ears.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    console = Console(highlight=False)
    run = _Run(console)
    run.stage("test requirements", install_requirements)
    if run.outcomes[-1].verdict is not Verdict.PASSED:
        console.print("wiretable: without the test requirements nothing else can run.", style="red")
        return 1
    run.stage("Debian packages", partial(install_packages, console))
    if pytest_args:
        run.stage("pytest", partial(_tool, "pytest", *pytest_args))
        return exit_code(run.outcomes, ci=under_ci())

    run.stage("ruff format", partial(_tool, "ruff", "format", "--check", "."))
    run.stage("ruff check", partial(_tool, "ruff", "check", "."))
    run.stage("mypy --strict", partial(_tool, "mypy", "--strict"))
    if quick:
        run.stage("pytest", partial(_tool, "pytest", "-n", "auto"))
    else:
        run.stage("pytest", partial(_tool, "pytest", "-n", "auto", "--cov", "--cov-report="))
        run.stage("coverage of the cores", core_coverage)
        for version in PYTHONS:
            if version == _version_here():
                continue
            python = find_python(version)
            if python is None:
                console.print(f"\nPython {version} is not on this machine.")
            else:
                run.stage(f"Python {version}", partial(on_python, version, python, full=full))
    console.print(run.table())
    return exit_code(run.outcomes, ci=under_ci())


class _Run:
    def __init__(self, console: Console) -> None:
        self.console = console
        self.outcomes: list[Outcome] = []

    def stage(self, name: str, work: Callable[[], tuple[Verdict, str]]) -> None:
        self.console.print(f"\n[bold]── {name}[/bold]")
        sys.stdout.flush()
        began = time.monotonic()
        verdict, note = work()
        outcome = Outcome(name, verdict, time.monotonic() - began, note)
        self.outcomes.append(outcome)
        self.console.print(f"   {_coloured(verdict)} in {outcome.seconds:.1f} s {note}".rstrip())

    def table(self) -> Table:
        table = Table("stage", "", "seconds", "", title="\nwiretable test", title_justify="left")
        table.columns[2].justify = "right"
        for outcome in self.outcomes:
            table.add_row(outcome.stage, _coloured(outcome.verdict), f"{outcome.seconds:.1f}", outcome.note)
        return table


def _coloured(verdict: Verdict) -> str:
    colour = {Verdict.PASSED: "green", Verdict.FAILED: "red", Verdict.NOT_RUN: "yellow"}[verdict]
    return f"[{colour}]{verdict.value}[/{colour}]"


def _call(*command: str, env: Mapping[str, str] | None = None) -> tuple[Verdict, str]:
    """Run a program from the repository's root; nothing it does may wait for a keyboard."""
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, env=env, check=False)
    return (Verdict.FAILED, f"exit code {done.returncode}") if done.returncode else (Verdict.PASSED, "")


def _tool(module: str, *arguments: str) -> tuple[Verdict, str]:
    return _call(sys.executable, "-m", module, *arguments)


def install_requirements() -> tuple[Verdict, str]:
    """The pinned test tools, into the environment this runs in; a stamp says they are there."""
    if sys.prefix == sys.base_prefix:
        return Verdict.FAILED, "this is not a virtual environment; start the tests with ./wiretable test"
    stamp = Path(sys.prefix, "requirements-test.stamp")
    wanted = REQUIREMENTS.read_bytes()
    with suppress(FileNotFoundError):
        if stamp.read_bytes() == wanted:
            return Verdict.PASSED, "nothing to do"
    outcome = _tool(
        "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
        "--require-hashes", "-r", str(REQUIREMENTS),
    )  # fmt: skip
    if outcome[0] is Verdict.PASSED:
        stamp.write_bytes(wanted)
    return outcome


def install_packages(console: Console) -> tuple[Verdict, str]:
    """Install the programs the tests need, or say what to type."""
    missing = [package for program, package in DEBIAN_PACKAGES.items() if shutil.which(program) is None]
    if not missing:
        return Verdict.PASSED, "nothing to do"
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *missing]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        _call("apt-get", "update", "--quiet=2", env=env)  # a stale mirror may still have the package
        return _call(*install[:2], "--quiet=2", *install[2:], env=env)
    console.print(
        f"{', '.join(missing)} not installed: tests that need it are skipped. Type: sudo {' '.join(install)}"
    )
    return Verdict.NOT_RUN, f"missing: {', '.join(missing)}"


def core_coverage() -> tuple[Verdict, str]:
    """Every line and branch of the cores ran in the tests just made."""
    return _tool("coverage", "report", "--fail-under=100", f"--include={','.join(CORE_FILES)}")


def on_python(version: str, python: Path, *, full: bool) -> tuple[Verdict, str]:
    """The launcher makes `.venv-3.X` and runs the suite in it."""
    env = {
        **os.environ,
        "WIRETABLE_PYTHON": str(python),
        "WIRETABLE_VENV": str(ROOT / f".venv-{version}"),
    }
    selected = () if full else ("-m", "not once")
    return _call(str(ROOT / "wiretable"), "test", "--", "-n", "auto", *selected, env=env)


def find_python(version: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """A Python of that version that really runs: from the search path, else from pyenv's folder."""
    folders = [Path(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder]
    pyenv = Path(environ.get("PYENV_ROOT") or Path(environ.get("HOME", "/"), ".pyenv"))
    installed = sorted(pyenv.glob(f"versions/{version}.*/bin"), reverse=True)
    for folder in [*folders, *installed]:
        python = folder / f"python{version}"
        if os.access(python, os.X_OK) and _runs(python):
            return python
    return None


def _runs(python: Path) -> bool:
    """A shim may stand for a Python that is not there, and Debian's may lack venv."""
    try:
        return subprocess.run([python, "-c", "import ensurepip, venv"], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=30, check=False).returncode == 0  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False


def _version_here() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"
