"""The rules of the house, each a function from source text to a list of complaints."""

from __future__ import annotations

import ast
import random
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nodes.core import Check

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("captures", "dissectors", "labs", "nodes", "tests")

CORE_PARTS = ("checks", "dialect", "messages", "transport", "rules", "roles")
GAME_FILES = {
    "__init__.py",
    *(f"{part}.py" for part in (*CORE_PARTS, "fields", "meaning", "bots", "human", "game")),
}
# Long roles stand in a file each, and roles.py holds what both share.
ROLE_PARTS = ("server", "client")
GAME_TESTS = {
    f"test_{part}.py" for part in ("messages", "transport", "rules", "roles", "meaning", "bots", "human")
} | {"__init__.py"}

# What a core may import from outside. All of it computes; none of it looks at the world.
CORE_LIBRARIES = {
    "__future__", "abc", "bisect", "collections", "contextlib", "copy", "dataclasses", "datetime", "enum",
    "functools", "heapq", "itertools", "json", "math", "operator", "re", "string", "struct", "types",
    "typing", "unicodedata",
}  # fmt: skip
GAME_LIBRARIES = {"holdem": {"pokerkit"}}
# A generator and the set-up are handed in, so only their types have a name here.
TYPING_ONLY = {"random", "nodes.game"}

# hash() of a string differs from process to process; the others look at the world.
FORBIDDEN_CALLS = {"__import__", "breakpoint", "eval", "exec", "hash", "id", "input", "open", "print"}
WORLDLY = {
    "time": set(dir(time)),
    "random": set(dir(random)),
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
}

# Who may know whom.
LAYERS = {
    "nodes": {"nodes"},
    "dissectors": {"dissectors", "nodes"},
    "captures": {"captures", "dissectors", "nodes"},
    "labs": {"captures", "dissectors", "labs", "nodes"},
}


@dataclass(frozen=True, slots=True)
class Import:
    module: str  # "nodes.core"; for `from nodes import core` as well
    line: int
    typing_only: bool


def imports(source: str, package: str = "") -> list[Import]:
    """Every import in the text, relative ones resolved against its package."""
    found: list[Import] = []

    def visit(node: ast.AST, typing_only: bool) -> None:
        if isinstance(node, ast.Import):
            found.extend(Import(alias.name, node.lineno, typing_only) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            base = ".".join(parents[: len(parents) - node.level + 1]) if node.level else ""
            module = ".".join(name for name in (base, node.module) if name)
            # `from nodes import core` imports nodes.core: a package's own names are its modules.
            deeper = module in PACKAGES or bool(re.fullmatch(r"nodes\.\w+", module) and _is_package(module))
            names = [f"{module}.{alias.name}" for alias in node.names] if deeper else [module]
            found.extend(Import(name, node.lineno, typing_only) for name in names)
        if isinstance(node, ast.If) and _is_type_checking(node.test):
            for statement in node.body:
                visit(statement, True)
            for statement in node.orelse:
                visit(statement, typing_only)
        else:
            for child in ast.iter_child_nodes(node):
                visit(child, typing_only)

    visit(ast.parse(source), False)
    return found


def _is_package(module: str) -> bool:
    return (ROOT / module.replace(".", "/") / "__init__.py").exists()


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def core_imports(source: str, module: str) -> list[str]:
    """A core imports what computes, nodes.core and its own folder's cores; its rules know no messages."""
    package, _, part = module.rpartition(".")
    game = package.rpartition(".")[2] if package != "nodes" else ""
    ours = {"nodes.core"} | {f"{package}.{name}" for name in (*CORE_PARTS, *ROLE_PARTS) if game}
    if part == "rules":
        ours -= {f"{package}.{name}" for name in ("messages", "transport", "roles", *ROLE_PARTS)}
    libraries = CORE_LIBRARIES | GAME_LIBRARIES.get(game, set())
    complaints = []
    for found in imports(source, package):
        top = found.module.partition(".")[0]
        allowed = found.module in ours if top in PACKAGES else top in libraries
        if not allowed and not (found.typing_only and found.module in TYPING_ONLY):
            complaints.append(f"line {found.line}: a core imports {found.module}")
    return complaints


def core_calls(source: str) -> list[str]:
    """A core reads no clock, draws no number of its own and touches nothing outside."""
    complaints = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = ""
        if isinstance(called, ast.Name):
            name = called.id if called.id in FORBIDDEN_CALLS else ""
        elif isinstance(called, ast.Attribute):
            owner = ast.unparse(called.value).rpartition(".")[2]
            if called.attr in WORLDLY.get(owner, ()):
                name = f"{owner}.{called.attr}"
        if name:
            complaints.append(f"line {node.lineno}: a core calls {name}()")
    return complaints


def layering(source: str, module: str) -> list[str]:
    """nodes ← captures ← labs, and dissectors know only the games' bytes, their fields and meanings."""
    package = module.rpartition(".")[0] or module
    layer = module.partition(".")[0]
    complaints = []
    for found in imports(source, package):
        top = found.module.partition(".")[0]
        if top not in PACKAGES:
            continue
        bytes_only = re.fullmatch(r"nodes\.(core|\w+\.(messages|transport|fields|meaning))", found.module)
        if top not in LAYERS[layer] or (layer == "dissectors" and top == "nodes" and not bytes_only):
            complaints.append(f"line {found.line}: {layer} imports {found.module}")
    return complaints


def check_ids(source: str, game: str) -> Iterator[tuple[str, int]]:
    """Every check id of the game that stands in the text, with its line."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(rf"{game}/\S*", node.value)
        ):
            yield node.value, node.lineno


def unlisted_checks(sources: Iterable[str], game: str, checks: Iterable[str]) -> list[str]:
    """Every id in the code is in CHECKS, and every id in CHECKS is in the code as it is written."""
    used = {found for source in sources for found, _ in check_ids(source, game)}
    listed = set(checks)
    return [f"{found} is not in CHECKS" for found in sorted(used - listed)] + [
        f"{found} is in CHECKS, but no code refers to it" for found in sorted(listed - used)
    ]


def poor_checks(game: str, checks: Mapping[str, Check]) -> list[str]:
    """An id says whose it is; a check quotes its clause and says in a sentence what we make of it."""
    complaints = []
    for name, check in checks.items():
        if not re.fullmatch(rf"{game}/[a-z0-9][a-z0-9._-]*", name):
            complaints.append(f"{name} is no id of {game}")
        if not check.clause.strip():
            complaints.append(f"{name} quotes no clause")
        if not check.means.strip().endswith("."):
            complaints.append(f"{name} does not say in a sentence what it means")
    return complaints


def misquoted(checks: Mapping[str, Check], texts: Iterable[str]) -> list[str]:
    """Each piece of a quoted clause (`…` or `[…]` marks a cut) stands in one of the texts."""
    plain = [_plain(text) for text in texts]
    return [
        f"{name}: no text says «{piece}»"
        for name, check in checks.items()
        for piece in re.split(r"\[…\]|…|\(protocols\.md\)|\(ring\.md\)", check.clause)
        if (words := _plain(piece)) and not any(words in text for text in plain)
    ]


def _plain(text: str) -> str:
    """Only words matter: no line ends, markup, list marks, quotation marks, table rules or closing stop."""
    text = re.sub(r"(?m)^\s*(?:[-*+]|\d+\.|#+)\s", "", text)
    return re.sub(r"[\s*`\"'“”«»|\\]+", "", text).strip(".;:,")


# In classes of one letter, so that this file keeps its own rule.
_BLEMISHES = {
    r"\b(?:T[O]DO|F[I]XME|X[X]X)\b": "an unfinished thought",
    r"/(?:r[o]ot|h[o]me|U[s]ers|w[o]rk)/\w": "a path of one machine",
    r"p[y]pi\.org|p[y]thonhosted\.org|--(?:extra-)?i[n]dex-url[ =]h": "a registry's host name",
}


def blemishes(text: str) -> list[str]:
    """No file has an unfinished thought, a machine's path or a registry's host name in it."""
    return [
        f"line {number}: {what}: {line.strip()[:80]}"
        for number, line in enumerate(text.splitlines(), 1)
        for pattern, what in _BLEMISHES.items()
        if re.search(pattern, line)
    ]


def house_files() -> Iterator[Path]:
    """Every text file that belongs to the project: not what tools and runs leave behind."""
    tops = [path for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".coverage")]
    folders = [ROOT / name for name in (".ci", "compose", "docs", *PACKAGES)]
    for path in [*tops, *(found for folder in folders for found in sorted(folder.rglob("*")))]:
        if path.is_file() and "__pycache__" not in path.parts:
            yield path
