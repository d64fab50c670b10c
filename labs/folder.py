"""Run folders: every run leaves one that explains itself, and `latest` points at the newest."""

from __future__ import annotations

import json
import platform
import time
from importlib import metadata
from typing import TYPE_CHECKING, Any

from nodes import __version__

if TYPE_CHECKING:
    from pathlib import Path

LIBRARIES = ("click", "pokerkit", "rich", "websockets")


class FolderError(Exception):
    """The run folder cannot be made. The text says why."""


class RunFolder:
    """One run's folder. `note` adds to run.json, which is whole on disk at any moment."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._notes: dict[str, Any] = {}

    @classmethod
    def create(cls, store: Path, name: str) -> RunFolder:
        """A new folder in `store`, named by time and `name`."""
        stamp = time.strftime("%Y%m%d-%H%M%S")
        try:
            store.mkdir(parents=True, exist_ok=True)
            path = _unused(store, f"{stamp}-{name}")
            _point(store / "latest", path.name)
        except OSError as error:
            raise FolderError(
                f"cannot make a run folder in {store}: {error.strerror}; choose another with --out DIR"
            ) from None
        return cls(path)

    @property
    def capture(self) -> Path:
        return self.path / "capture.pcapng"

    def log(self, seat: str) -> Path:
        return self.path / f"{seat}.jsonl"

    def tape(self, seat: str) -> Path:
        return self.path / f"{seat}.tape"

    def note(self, **notes: Any) -> None:
        """Add to run.json."""
        self._notes |= notes
        fresh = self.path / "run.json.new"
        fresh.write_text(json.dumps(self._notes, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        fresh.replace(self.path / "run.json")

    @property
    def notes(self) -> dict[str, Any]:
        return dict(self._notes)


def versions() -> dict[str, str]:
    """What a run was made with."""
    found = {"wiretable": __version__, "python": platform.python_version(), "platform": platform.platform()}
    return found | {name: metadata.version(name) for name in LIBRARIES}


def _unused(store: Path, name: str) -> Path:
    """Two runs in the same second get different folders."""
    number = 1
    while True:
        path = store / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir()
        except FileExistsError:
            number += 1
        else:
            return path


def _point(link: Path, target: str) -> None:
    """Make `latest` a link to the newest run, in one step."""
    fresh = link.with_name(f".{target}")  # nobody else's, as no other run has this folder
    fresh.symlink_to(target)
    fresh.replace(link)
