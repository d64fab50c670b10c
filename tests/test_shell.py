"""`wiretable shell`: Scapy with everything loaded, from a keyboard or a pipe, and real nodes that answer."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from scapy.layers.inet import IP, UDP
from scapy.sendrecv import sr1

import dissectors
from dissectors import (
    Briscola,
    BriscolaAck,
    BriscolaError,
    BriscolaSearch,
    GameStart,
    Hearts,
    PlayCard,
    TicTacToe,
    TicTacToeMove,
    TicTacToeState,
)
from labs.engines.processes import ROOT, end, python, spawn
from labs.shell import BANNER, Wire, namespace, stream, wire
from tests.tools import require_root

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.once
HEARD_S = 5.0  # an answer takes a millisecond
UNHEARD_S = 0.3


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def node(*arguments: str) -> Iterator[str]:
    """A real node; where it listens."""
    line = [*python(), "-m", "nodes", *arguments, "--seed", "7", "--json", "--until-eof"]
    process = spawn(line, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield str(json.loads(process.stdout.readline())["address"])
    finally:
        end(process)
        assert process.stdout is not None
        process.stdout.close()


@contextmanager
def hearts_node() -> Iterator[Wire]:
    """m1 of a ring of which we are all the rest."""
    here = f"127.0.0.1:{free_port()}"
    with node("hearts", "--id", "1", "--listen", "127.0.0.1:0", "--next", here) as there:
        ring = wire(there, Hearts, here)
        try:
            yield ring
        finally:
            ring.close()


def shell(lines: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*python(), "-m", "labs", "shell"],
        input=lines,
        env={"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "PATH": "/usr/bin:/usr/sbin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def without_prompts(text: str) -> list[str]:
    """The lines, without prompts and those that are empty."""
    lines = (re.sub(r"^(?:(?:>>>|\.\.\.) ?)+", "", line).rstrip() for line in text.splitlines())
    return [line for line in lines if line]


def test_lines_from_a_pipe_are_answered_and_a_mistake_is_told() -> None:
    done = shell('Hearts(b"1").check\nfor card in (1,):\n  Card(value=card).summary()\n\n1/0\n')
    assert done.returncode == 0
    assert without_prompts(done.stdout) == ["'hearts/3.header'", "'A♣'"]
    assert "Scapy 2" in done.stderr
    assert "ZeroDivisionError" in done.stderr


def test_all_of_scapy_and_every_layer_can_be_named() -> None:
    names = namespace()
    assert {"sr1", "hexdump", "rdpcap", "IP", "wire", "stream", *dissectors.__all__} <= names.keys()


def test_what_the_banner_proposes_works(capsys: pytest.CaptureFixture[str]) -> None:
    proposed = [line.split("   ")[0].strip() for line in BANNER.splitlines() if line.startswith("  ")]
    assert len(proposed) == 3
    exec(proposed[0], namespace())
    assert "card      = Q♠" in capsys.readouterr().out


def test_a_frame_sent_to_a_node_comes_out_at_its_next() -> None:
    with hearts_node() as ring:
        back: Any = ring.sr1(Hearts() / GameStart(), timeout=HEARD_S, verbose=0)
        assert back == Hearts(bytes(Hearts() / GameStart()))


def test_a_frame_that_a_check_refuses_does_not() -> None:
    with hearts_node() as ring:
        frame = Hearts() / PlayCard(card=0x7F)
        assert frame.check == "hearts/5.card"
        assert ring.sr1(frame, timeout=UNHEARD_S, verbose=0) is None


def test_a_search_gets_its_ack_and_an_id_in_use_its_err() -> None:
    with node("briscola", "server", "--listen", "127.0.0.1:0") as there:
        one, two = wire(there, Briscola), wire(there, Briscola)
        ack: Any = one.sr1(BriscolaSearch(player=5), timeout=HEARD_S, verbose=0)
        assert (type(ack), ack.count) == (BriscolaAck, 1)
        error: Any = two.sr1(BriscolaSearch(player=5), timeout=HEARD_S, verbose=0)
        assert isinstance(error, BriscolaError)
        assert error.sprintf("%BriscolaError.code%") == "ID_IN_USE"
        one.close()
        two.close()


def test_raw_packets_reach_a_node_on_the_loopback_interface() -> None:
    require_root()
    with node("briscola", "server", "--listen", "127.0.0.1:0") as there:
        port = int(there.rpartition(":")[2])
        dissectors.listen("briscola", port)
        word = IP(dst="127.0.0.1") / UDP(sport=free_port(), dport=port) / BriscolaSearch(player=6)
        answer: Any = sr1(word, timeout=HEARD_S, verbose=0)
        assert BriscolaAck in answer


def test_a_game_of_tic_tac_toe_can_be_played_by_hand() -> None:
    with node("tictactoe", "server", "--listen", "127.0.0.1:0") as there:
        table = stream(there, TicTacToe)
        opening: Any = table.recv()
        assert isinstance(opening, TicTacToeState)
        assert opening.count == 0
        reply: Any = table.sr1(TicTacToeMove(choice=5), timeout=HEARD_S, verbose=0)
        assert (reply.status, reply.count, reply.board[4]) == ("1", 2, "O")
        reply = table.sr1(TicTacToeMove(choice=5), timeout=HEARD_S, verbose=0)
        assert reply.status == "0", "the cell is taken"
        table.close()


def test_the_session_on_the_page_runs_as_it_stands() -> None:
    page = (ROOT / "docs" / "scapy.md").read_text(encoding="utf-8")
    session = page.partition("```pycon\n")[2].partition("```")[0]
    with hearts_node() as ring:
        here, there = ring.here, ring.there
        ring.close()
        session = session.replace("127.0.0.1:47124", str(there)).replace("127.0.0.1:47123", str(here))
        typed = [line[4:] for line in session.splitlines() if line.startswith((">>>", "..."))]
        told = [line for line in session.splitlines() if line and not line.startswith((">>>", "..."))]
        done = shell("\n".join([*typed, ""]))
        assert "Error" not in done.stderr
        assert without_prompts(done.stdout) == told
