"""A family of processes a test, of which none may outlive it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.labs.command import Family

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def family() -> Iterator[Family]:
    family = Family()
    yield family
    left = family.alive()
    family.end()
    assert left == {}
