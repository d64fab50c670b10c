"""What is said of a process that did not end well."""

from __future__ import annotations

import pytest

from labs.run import EXIT_CODES, _ended


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (1, "ended with exit code 1"),
        (2, "ended with exit code 2"),
        (-9, "was ended by SIGKILL"),
        (-11, "was ended by SIGSEGV"),
        (143, "left on SIGTERM"),
        (128, "ended with exit code 128"),
        (255, "ended with exit code 255"),
        (-127, "ended with exit code -127"),
    ],
)
def test_an_exit_code_is_told_in_words(code: int, says: str) -> None:
    assert _ended(code) == says


def test_every_verdict_has_an_exit_code_of_its_own() -> None:
    assert EXIT_CODES == {"finished": 0, "failed": 1, "stalled": 3, "interrupted": 130}
