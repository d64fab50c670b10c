"""Child processes that never outlive us: their standard input is a pipe whose end they wait for."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

END_PATIENCE_S = 3.0
ROOT = Path(__file__).resolve().parent.parent.parent


def python() -> list[str]:
    """This very interpreter; -P keeps the current folder from shadowing our packages."""
    return [sys.executable, "-P"]


def spawn(line: list[str], **streams: Any) -> subprocess.Popen[bytes]:
    """Start a child in a session of its own, so that Ctrl-C reaches us alone and we end it in order."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    return subprocess.Popen(line, stdin=subprocess.PIPE, env=environment, start_new_session=True, **streams)


def end(child: subprocess.Popen[bytes]) -> int:
    """Close its standard input, then ask, then force. Its exit code."""
    with contextlib.suppress(OSError):
        assert child.stdin is not None
        child.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return child.wait(END_PATIENCE_S)
    child.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return child.wait(END_PATIENCE_S)
    child.kill()
    return child.wait()
