"""What a test needs of the machine: it skips with the reason and the line to type; under CI it fails."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

# The Debian package of each program, where its name differs.
PACKAGES = {"capinfos": "wireshark-common", "setpriv": "util-linux"}


def require_tool(name: str) -> str:
    """Return the path of a program."""
    path = shutil.which(name)
    if path is None:
        missing(f"{name} is not installed", f"apt-get install -y {PACKAGES.get(name, name)}")
    return path


def require_root() -> None:
    """Go on only as root."""
    if os.geteuid() != 0:
        missing("this test needs root", "sudo ./wiretable test")


def how_many(few: int, many: int) -> int:
    """How often to try: `many` in the full run (`./wiretable test --full`), else a fixed `few`."""
    return many if os.environ.get("WIRETABLE_FULL") == "1" else few


def missing(reason: str, remedy: str) -> NoReturn:
    """Skip the test, or fail it under CI, where everything must be there."""
    text = f"{reason}; to have it: {remedy}"
    if os.environ.get("CI") == "true":
        pytest.fail(text)
    pytest.skip(text)
