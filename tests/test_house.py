"""The house stays in order: who imports whom, what a core may touch, ids and clauses that match.

Each rule is shown red on a small bad example before it is asked of the real files.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, cast

import pytest

from nodes.core import Check
from nodes.game import NAMES
from tests import house
from tests.house import CORE_PARTS, GAME_FILES, GAME_TESTS, PACKAGES, ROLE_PARTS, ROOT, Import

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = pytest.mark.once

CORES = [
    "nodes.core",
    *(f"nodes.{game}.{part}" for game in NAMES for part in CORE_PARTS),
    *(
        f"nodes.{game}.{part}"
        for game in NAMES
        for part in ROLE_PARTS
        if (ROOT / "nodes" / game / f"{part}.py").exists()
    ),
]
MODULES = sorted(
    path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    for package in house.LAYERS
    for path in (ROOT / package).rglob("*.py")
)
TEXTS = ROOT.parent / "shared"


def source(module: str) -> str:
    return (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")


def checks_of(game: str) -> Mapping[str, Check]:
    return cast("Mapping[str, Check]", importlib.import_module(f"nodes.{game}.checks").CHECKS)


def complain(where: str, complaints: list[str]) -> None:
    assert not complaints, f"{where}:\n" + "\n".join(complaints)


def test_imports_are_found_wherever_they_stand() -> None:
    text = (
        "import a.b, c\n"
        "from nodes import core\n"
        "from . import rules\n"
        "from ..game import Seat\n"
        "if TYPE_CHECKING:\n"
        "    from random import Random\n"
        "else:\n"
        "    import d\n"
        "def f():\n"
        "    import time\n"
    )
    assert house.imports(text, "nodes.hearts") == [
        Import("a.b", 1, False),
        Import("c", 1, False),
        Import("nodes.core", 2, False),
        Import("nodes.hearts.rules", 3, False),
        Import("nodes.game", 4, False),
        Import("random", 6, True),
        Import("d", 8, False),
        Import("time", 10, False),
    ]


@pytest.mark.parametrize(
    "bad",
    [
        "import socket",
        "import asyncio",
        "from time import monotonic",
        "import threading",
        "import os.path",
        "from random import Random",
        "import secrets",
        "import importlib",
        "import websockets",
        "import pokerkit",
        "def f():\n    import time",
        "if TYPE_CHECKING:\n    import socket",
        "from nodes.game import Setup",
        "from nodes import memory",
        "from nodes.briscola.rules import Card",
        "from nodes.hearts import bots",
        "from .human import Person",
        "import captures",
    ],
)
def test_a_core_that_imports_more_than_it_may_is_caught(bad: str) -> None:
    assert house.core_imports(bad, "nodes.hearts.roles")


@pytest.mark.parametrize(
    ("good", "module"),
    [
        ("from nodes.core import Core", "nodes.hearts.roles"),
        ("from nodes import core", "nodes.hearts.roles"),
        ("from nodes.hearts.messages import decode", "nodes.hearts.roles"),
        ("from . import rules", "nodes.hearts.roles"),
        ("from collections.abc import Mapping", "nodes.hearts.roles"),
        ("if TYPE_CHECKING:\n    from random import Random", "nodes.hearts.roles"),
        ("if TYPE_CHECKING:\n    from nodes.game import Setup", "nodes.hearts.roles"),
        ("import pokerkit", "nodes.holdem.rules"),
    ],
)
def test_a_core_may_import_what_computes_and_its_own_folder(good: str, module: str) -> None:
    assert house.core_imports(good, module) == []


def test_rules_that_know_messages_are_caught() -> None:
    assert house.core_imports("from nodes.hearts.messages import PlayCard", "nodes.hearts.rules")
    assert house.core_imports("from nodes.hearts.dialect import Dialect", "nodes.hearts.rules") == []


def test_the_shape_of_all_cores_imports_nothing_of_ours() -> None:
    assert house.core_imports("from nodes.hearts.rules import Card", "nodes.core")


@pytest.mark.parametrize(
    "bad",
    [
        "time.time()",
        "random.choice(cards)",
        "datetime.now()",
        "datetime.datetime.now(UTC)",
        "date.today()",
        "hash(name)",
        "print(name)",
        "open(name)",
        "__import__('time')",
    ],
)
def test_a_core_that_looks_at_the_world_is_caught(bad: str) -> None:
    assert house.core_calls(f"def f():\n    return {bad}\n")


def test_a_core_may_compute() -> None:
    good = "self.rng.shuffle(cards); datetime.fromtimestamp(now, UTC); self.hash(); time.replace(1)"
    assert house.core_calls(good) == []


@pytest.mark.parametrize(
    ("bad", "module"),
    [
        ("import captures.pcapng", "nodes.shell"),
        ("from labs import cli", "nodes.shell"),
        ("from dissectors import hearts", "nodes.hearts.game"),
        ("import labs.cli", "captures.record"),
        ("from tests.tools import tshark", "labs.cli"),
        ("from captures import pcapng", "dissectors.hearts"),
        ("from nodes.hearts.rules import Card", "dissectors.hearts"),
        ("from nodes.hearts import roles", "dissectors.hearts"),
        ("from nodes.game import Game", "dissectors.hearts"),
        ("def f():\n    from labs import cli", "nodes.shell"),
    ],
)
def test_an_import_against_the_direction_is_caught(bad: str, module: str) -> None:
    assert house.layering(bad, module)


@pytest.mark.parametrize(
    ("good", "module"),
    [
        ("from nodes.game import load", "captures.record"),
        ("from nodes.hearts import messages", "dissectors.hearts"),
        ("from nodes.hearts.messages import PlayCard", "dissectors.hearts"),
        ("from nodes.hearts.fields import FIELDS", "dissectors.hearts"),
        ("from nodes.core import RemoteProtocolError", "dissectors.hearts"),
        ("from nodes.holdem.transport import parse", "dissectors.holdem"),
        ("import captures.pcapng\nimport socket", "labs.cli"),
    ],
)
def test_an_import_in_the_direction_is_fine(good: str, module: str) -> None:
    assert house.layering(good, module) == []


def test_ids_in_code_and_in_the_list_that_do_not_meet_are_caught() -> None:
    code = 'raise RemoteProtocolError("hearts/6.2", "…")\nPATH = "runs/hearts/6.3"\n'
    assert house.unlisted_checks([code], "hearts", ["hearts/6.2"]) == []
    assert house.unlisted_checks([code], "hearts", []) == ["hearts/6.2 is not in CHECKS"]
    assert house.unlisted_checks([code], "hearts", ["hearts/6.2", "hearts/9"]) == [
        "hearts/9 is in CHECKS, but no code refers to it"
    ]


def test_an_id_put_together_at_run_time_is_caught() -> None:
    assert house.unlisted_checks(['f"hearts/{section}"'], "hearts", []) == ["hearts/ is not in CHECKS"]


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("briscola/1", Check("Testo.", "A sentence.")),
        ("hearts/", Check("Texto.", "A sentence.")),
        ("hearts/1", Check(" ", "A sentence.")),
        ("hearts/1", Check("Texto.", "")),
    ],
)
def test_a_poor_check_is_caught(name: str, check: Check) -> None:
    assert house.poor_checks("hearts", {name: check})
    assert house.poor_checks("hearts", {"hearts/1": Check("Texto.", "A sentence.")}) == []


def test_a_clause_the_text_does_not_have_is_caught() -> None:
    text = "Uma carta por vez.\n  O *token* passa\nao vencedor."
    assert house.misquoted({"hearts/1": Check("Uma carta […] token passa ao vencedor.", "")}, [text]) == []
    assert house.misquoted({"hearts/1": Check("Duas cartas por vez.", "")}, [text])


@pytest.mark.parametrize(
    "bad", ["# TO" + "DO: later", "see /ro" + "ot/x", "/ho" + "me/ada/x", "https://py" + "pi.org/simple"]
)
def test_a_blemish_is_caught(bad: str) -> None:
    assert house.blemishes(f"fine\n{bad}\n")


@pytest.mark.parametrize("module", CORES)
def test_cores_are_free_of_input_and_output(module: str) -> None:
    complain(module, house.core_imports(source(module), module) + house.core_calls(source(module)))


@pytest.mark.parametrize("module", MODULES)
def test_dependencies_point_one_way(module: str) -> None:
    complain(module, house.layering(source(module), module))


@pytest.mark.parametrize("game", NAMES)
def test_every_game_has_the_same_files(game: str) -> None:
    roles = {f"{part}.py" for part in ROLE_PARTS}
    assert {path.name for path in (ROOT / "nodes" / game).glob("*.py")} - roles == GAME_FILES
    assert {path.name for path in (ROOT / "tests" / game).glob("*.py")} >= GAME_TESTS


@pytest.mark.parametrize("game", NAMES)
def test_every_check_is_listed_and_used(game: str) -> None:
    sources = [
        path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "nodes" / game).glob("*.py"))
        if path.name != "checks.py"
    ]
    complain(game, house.unlisted_checks(sources, game, checks_of(game)))


@pytest.mark.parametrize("game", NAMES)
def test_every_check_quotes_its_clause(game: str) -> None:
    complain(game, house.poor_checks(game, checks_of(game)))


@pytest.mark.skipif(not TEXTS.is_dir(), reason="the original texts are not part of this repository")
@pytest.mark.parametrize("game", NAMES)
def test_every_quoted_clause_stands_in_its_text(game: str) -> None:
    (text,) = (TEXTS / "specs").glob(f"{NAMES.index(game):03d}_*.txt")
    texts = [text, TEXTS / "protocols.md", TEXTS / "ring.md"]
    complain(game, house.misquoted(checks_of(game), [path.read_text(encoding="utf-8") for path in texts]))


def test_no_file_has_a_blemish() -> None:
    def read(path: Path) -> str:
        try:
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            return ""  # a capture or a picture

    for path in house.house_files():
        complain(str(path.relative_to(ROOT)), house.blemishes(read(path)))


def test_the_launcher_and_ci_can_be_started() -> None:
    assert os.access(ROOT / "wiretable", os.X_OK)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_every_folder_of_code_is_a_package() -> None:
    for package in PACKAGES:
        folders = {path.parent for path in (ROOT / package).rglob("*.py")}
        assert all((folder / "__init__.py").exists() for folder in folders)
