"""Run folders."""

from __future__ import annotations

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from labs.folder import FolderError, RunFolder, versions

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_is_named_by_time_and_run_and_latest_points_at_it(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "deep" / "runs", "hearts-seed7")
    assert re.fullmatch(r"\d{8}-\d{6}-hearts-seed7", folder.path.name)
    latest = tmp_path / "deep" / "runs" / "latest"
    assert os.readlink(latest) == folder.path.name  # so that the whole store may be moved
    newer = RunFolder.create(tmp_path / "deep" / "runs", "hearts-seed7")
    assert newer.path != folder.path
    assert latest.resolve() == newer.path.resolve()


def test_runs_of_the_same_second_do_not_share_a_folder(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: RunFolder.create(tmp_path, "x").path, range(40)))
    assert len(set(made)) == 40
    assert (tmp_path / "latest").resolve() in {path.resolve() for path in made}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_run_json_is_whole_after_every_note(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "x")
    folder.note(seed=7, verdict="running")
    assert json.loads((folder.path / "run.json").read_text()) == {"seed": 7, "verdict": "running"}
    folder.note(verdict="finished", winner="ää ♥")
    notes = json.loads((folder.path / "run.json").read_text(encoding="utf-8"))
    assert notes == folder.notes == {"seed": 7, "verdict": "finished", "winner": "ää ♥"}
    assert [path.name for path in folder.path.iterdir()] == ["run.json"]


def test_a_store_that_cannot_be_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match=r"cannot make a run folder in .*; choose another with --out DIR"):
        RunFolder.create(tmp_path / "file" / "runs", "x")
    (tmp_path / "latest").mkdir()
    with pytest.raises(FolderError, match="cannot make a run folder"):
        RunFolder.create(tmp_path, "x")


def test_versions_name_all_that_decides_what_is_on_the_wire() -> None:
    assert set(versions()) == {"wiretable", "python", "platform", "click", "pokerkit", "rich", "websockets"}
    assert all(versions().values())
