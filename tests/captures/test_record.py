"""The recorder: a real packet socket, real sockets to watch, Wireshark's programs to judge."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest

from captures import EXIT_NOT_PERMITTED, Direction, Names, Statistics, Writer, load
from captures.kernel import PAIRS_MAX, Tap, filter_for
from captures.links import LinkTable, describe, parse_link, section
from captures.record import TAKE_MAX, Recorder, place_of
from tests.captures import shark
from tests.tools import require_root, require_tool

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent.parent

RING = [
    "--link=m0→m1=127.0.91.1>127.0.91.2",
    "--link=m1→m0=127.0.91.2>127.0.91.1",
    "--node=m0=127.0.91.1",
    "--node=m1=127.0.91.2",
]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "captures.record", *arguments]


@contextmanager
def recording(out: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Record while the block runs: it starts only when the recorder is ready, and must end well."""
    require_root()
    with subprocess.Popen(
        command("--out", str(out), *arguments),
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as recorder:
        assert pipe(recorder.stdout).readline() == "ready\n"
        yield recorder
        if pipe(recorder.stdin).closed:
            recorder.stdin = None  # communicate() would flush it
        said, complaint = recorder.communicate()
        assert (recorder.returncode, complaint) == (0, "")
        assert said.startswith("recorded ")
        assert said.endswith(", lost 0\n")


def pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


@contextmanager
def udp(address: str) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as end:
        end.bind((address, 0))
        yield end


def test_every_datagram_is_recorded_once_on_its_link(tmp_path: Path) -> None:
    out = tmp_path / "ring.pcapng"
    with recording(out, *RING, "--comment=a test"), udp("127.0.91.1") as m0, udp("127.0.91.2") as m1:
        for number in range(50):
            m0.sendto(b"there %d" % number, m1.getsockname())
            m1.sendto(b"back %d" % number, m0.getsockname())
    capture = load(out)
    assert capture.problem is None
    assert [packet.data[42:] for packet in capture.packets if packet.interface == 0] == [
        b"there %d" % number for number in range(50)
    ]
    assert [packet.data[42:] for packet in capture.packets if packet.interface == 1] == [
        b"back %d" % number for number in range(50)
    ]
    times = [packet.time_ns for packet in capture.packets]
    assert times == sorted(times)
    assert {packet.direction for packet in capture.packets} == {Direction.OUTBOUND}
    statistics = [block for block in capture.blocks if isinstance(block, Statistics)]
    assert [(entry.interface, entry.received, entry.dropped) for entry in statistics] == [
        (0, 50, 0),
        (1, 50, 0),
    ]
    assert Names((("127.0.91.1", ("m0",)), ("127.0.91.2", ("m1",)))) in capture.blocks


def test_wireshark_opens_a_recording_without_a_warning(tmp_path: Path) -> None:
    out = tmp_path / "ring.pcapng"
    with recording(out, *RING, "--comment=a test"), udp("127.0.91.1") as m0, udp("127.0.91.2") as m1:
        m0.sendto(b"hello", m1.getsockname())
    assert shark.complaints(out) == []
    assert shark.fields(out, "frame.interface_name", "ip.src", "ip.dst", "data.data") == [
        ("m0→m1", "127.0.91.1", "127.0.91.2", b"hello".hex())
    ]
    said = shark.capinfos(out)
    for part in ("Wiretable", "a test", "Name = m0→m1", "Name = m1→m0", "seen by the kernel on lo"):
        assert part in said


def test_foreign_traffic_stays_out(tmp_path: Path) -> None:
    out = tmp_path / "one.pcapng"
    with (
        recording(out, "--link=m0→m1=127.0.91.1>127.0.91.2"),
        udp("127.0.91.1") as m0,
        udp("127.0.91.2") as m1,
        udp("127.0.91.3") as stranger,
    ):
        stranger.sendto(b"no", m1.getsockname())
        m0.sendto(b"no", stranger.getsockname())
        m1.sendto(b"no", m0.getsockname())
        m0.sendto(b"yes", m1.getsockname())
    assert [packet.data[42:] for packet in load(out).packets] == [b"yes"]


def test_a_connection_is_recorded_both_ways_from_syn_to_fin(tmp_path: Path) -> None:
    out = tmp_path / "star.pcapng"
    with recording(out, "--link=p1↔server=127.0.91.2<>127.0.91.1"):
        tcp_talk()
    assert {packet.direction for packet in load(out).packets} == {Direction.OUTBOUND, Direction.INBOUND}
    assert shark.complaints(out) == []
    flags = shark.fields(out, "frame.interface_name", "ip.src", "tcp.flags.str")
    assert {name for name, _src, _flags in flags} == {"p1↔server"}
    assert [("S" in flag, "A" in flag) for _name, _src, flag in flags[:3]] == [
        (True, False),
        (True, True),
        (False, True),
    ]
    assert sum("F" in flag for _name, _src, flag in flags) == 2
    payload = b"".join(
        bytes.fromhex(data) for src, data in shark.fields(out, "ip.src", "tcp.payload") if src == "127.0.91.1"
    )
    assert payload == b"welcome"


def tcp_talk() -> None:
    with socket.create_server(("127.0.91.1", 0)) as server:

        def serve() -> None:
            peer, _address = server.accept()
            with peer:
                peer.sendall(b"welcome")
                while peer.recv(100):
                    pass

        serving = threading.Thread(target=serve)
        serving.start()
        with socket.create_connection(server.getsockname(), source_address=("127.0.91.2", 0)) as client:
            assert client.recv(100) == b"welcome"
            client.sendall(b"thanks")
        serving.join()


def test_ipv6_links_are_recorded_too(tmp_path: Path) -> None:
    out = tmp_path / "six.pcapng"
    try:
        with udp("::1"):
            pass
    except OSError:
        pytest.skip("this machine has no IPv6 loopback; to have it: sysctl net.ipv6.conf.lo.disable_ipv6=0")
    with udp("::1") as m0, udp("::1") as m1:
        link = f"--link=m0→m1=[::1]:{m0.getsockname()[1]}>[::1]:{m1.getsockname()[1]}"
        with recording(out, link):
            m0.sendto(b"yes", m1.getsockname())
            m1.sendto(b"no", m0.getsockname())
    assert [packet.data[62:] for packet in load(out).packets] == [b"yes"]


def test_fragments_of_a_long_datagram_stay_together(tmp_path: Path) -> None:
    out = tmp_path / "long.pcapng"
    with recording(out, *RING), udp("127.0.91.1") as m0, udp("127.0.91.2") as m1:
        m0.sendto(bytes(65_000), m1.getsockname())
    assert sum(len(packet.data) - 34 for packet in load(out).packets) == 65_000 + 8


def test_a_file_is_whole_while_it_is_being_recorded(tmp_path: Path) -> None:
    out = tmp_path / "live.pcapng"
    with recording(out, *RING):
        capture = load(out)
        assert capture.problem is None
        assert [interface.name for interface in capture.interfaces] == ["m0→m1", "m1→m0"]


def test_ctrl_c_in_the_group_leaves_the_end_to_the_caller(tmp_path: Path) -> None:
    out = tmp_path / "ring.pcapng"
    with recording(out, *RING) as recorder, udp("127.0.91.1") as m0, udp("127.0.91.2") as m1:
        recorder.send_signal(signal.SIGINT)
        m0.sendto(b"after", m1.getsockname())
    assert [packet.data[42:] for packet in load(out).packets] == [b"after"]


def test_what_waits_in_the_socket_at_the_end_is_recorded_too(tmp_path: Path) -> None:
    out = tmp_path / "ring.pcapng"
    burst = 2 * TAKE_MAX + 1
    with recording(out, *RING) as recorder, udp("127.0.91.1") as m0, udp("127.0.91.2") as m1:
        recorder.send_signal(signal.SIGSTOP)
        for _ in range(burst):
            m0.sendto(b"x", m1.getsockname())
        pipe(recorder.stdin).close()
        recorder.send_signal(signal.SIGCONT)
    assert len(load(out).packets) == burst


def test_a_polite_kill_ends_the_file_properly(tmp_path: Path) -> None:
    out = tmp_path / "ring.pcapng"
    with recording(out, *RING) as recorder:
        recorder.send_signal(signal.SIGTERM)
        assert recorder.wait() == 0
    assert any(isinstance(block, Statistics) for block in load(out).blocks)


def refused(*arguments: str, prefix: tuple[str, ...] = ()) -> tuple[int, str]:
    done = subprocess.run(
        [*prefix, *command(*arguments)],
        cwd=ROOT,
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def test_without_the_right_it_says_so_and_the_caller_can_tell(tmp_path: Path) -> None:
    prefix: tuple[str, ...] = ()
    if os.geteuid() == 0:
        prefix = (require_tool("setpriv"), "--bounding-set=-net_raw", "--inh-caps=-net_raw")
    code, said = refused("--out", str(tmp_path / "no.pcapng"), *RING, prefix=prefix)
    assert code == EXIT_NOT_PERMITTED
    assert said == "Recording from the kernel needs CAP_NET_RAW (root has it), and this process lacks it.\n"
    assert not (tmp_path / "no.pcapng").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "--out"),
        (["--out=x"], "--link"),
        (["--out=x", "--link=m0"], "link 'm0' is not NAME=A>B"),
        (["--out=x", *RING, "--node=m0"], "node 'm0' is not NAME=ADDRESS"),
    ],
)
def test_a_wrong_command_line_gets_a_sentence(arguments: list[str], says: str) -> None:
    code, said = refused(*arguments)
    assert code == 2
    assert says in said


@pytest.mark.parametrize("name", ["nosuch0", "x" * 40])
def test_an_interface_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    require_root()
    code, said = refused("--out", str(tmp_path / "x"), *RING, "--interface", name)
    assert code == 2
    assert name in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("out", ["/nowhere/at/all.pcapng", "/dev/full"])
def test_a_file_that_cannot_be_written_is_named(out: str) -> None:
    require_root()
    code, said = refused("--out", out, *RING)
    assert code == 1
    assert said.startswith(f"Cannot write the capture {out}: ")
    assert said.count("\n") == 1


def test_the_filter_passes_pairs_beyond_what_a_program_holds() -> None:
    require_root()
    pairs = [(bytes([127, 1, a, b]), bytes([127, 2, a, b])) for a in range(5) for b in range(250)]
    assert len(pairs) > PAIRS_MAX
    for some in (pairs[:PAIRS_MAX], pairs):
        tap = Tap("lo", some)
        src, dst = (socket.inet_ntoa(address) for address in some[-1])
        with udp(src) as m0, udp(dst) as m1:
            m0.sendto(b"far", m1.getsockname())
            m1.recv(10)
        wanted = [
            frame
            for frame in tap.frames(1000)
            if place_of(frame.data, LinkTable([parse_link(f"x={src}>{dst}")]))
        ]
        assert len(wanted) == 1
        assert tap.dropped() == 0
        tap.close()


def test_the_filter_has_one_return_for_every_way_out() -> None:
    assert filter_for([])[-1] == (0x06, 0, 0, 0)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        bytes(14),
        bytes(12) + b"\x08\x00" + bytes(19),
        bytes(12) + b"\x86\xdd" + bytes(39),
        bytes(12) + b"\x08\x06" + bytes(40),
        bytes(12) + b"\x08\x00\x4f" + bytes(8) + b"\x11" + bytes(10),
    ],
)
def test_a_frame_too_short_for_its_kind_belongs_to_no_link(frame: bytes) -> None:
    assert place_of(frame, LinkTable([parse_link("x=127.0.0.1>127.0.0.2")])) is None


def test_losses_are_counted_and_told(tmp_path: Path) -> None:
    require_root()
    link = parse_link("m0→m1=127.0.91.1>127.0.91.2")
    table = LinkTable([link])
    tap = Tap("lo", table.pairs)
    # The smallest queue there is: a burst cannot fit.
    with socket.socket(fileno=os.dup(tap.fileno())) as queue:
        queue.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 0)
    out = tmp_path / "lossy.pcapng"
    with out.open("wb") as stream:
        writer = Writer(stream, section())
        describe(writer, [link], "seen", {})
        recorder = Recorder(tap, writer, table, 1)
        with udp("127.0.91.1") as m0, udp("127.0.91.2") as m1:
            for _ in range(200):
                m0.sendto(bytes(100), m1.getsockname())
        recorder.drain()
        recorder.finish()
    tap.close()
    assert 0 < recorder.received < 200
    assert recorder.received + recorder.dropped == 200
    last = load(out).blocks[-1]
    assert isinstance(last, Statistics)
    assert (last.received, last.dropped) == (recorder.received, recorder.dropped)
    assert "were lost" in last.comments[0]
