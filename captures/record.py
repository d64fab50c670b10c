"""Record a run's links from the kernel into a pcapng file.

    python -m captures.record --out capture.pcapng --node m0=127.0.71.1 --node m1=127.0.71.2 \\
        --link 'm0→m1=127.0.71.1>127.0.71.2' --link 'm1→m0=127.0.71.2>127.0.71.1'

Prints `ready` once no frame can go by unseen, ends when standard input closes, and then prints
`recorded N frames, lost M`. Exit codes: 0 recorded; 1 the file could not be written; 2 a wrong
command line; 77 (EXIT_NOT_PERMITTED) the kernel gives no packet socket, so the caller falls back to
the shells' own tapes.
"""

from __future__ import annotations

import argparse
import os
import select
import signal
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from captures.blocks import Statistics
from captures.kernel import EXIT_NOT_PERMITTED, BadInterface, NotPermitted, Tap
from captures.links import Link, LinkTable, Place, describe, parse_link, parse_node, section
from captures.pcapng import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

T = TypeVar("T")

# After the end is asked for: a frame already sent may still be on its way through the kernel.
DRAIN_QUIET_MS = 20
DRAIN_MAX_S = 5.0
# Under a flood the socket never runs empty; the end must still be noticed.
TAKE_MAX = 4096

_ETHERNET_BYTES = 14
_PORTS = struct.Struct("!HH")
_WITH_PORTS = (6, 17)  # TCP, UDP


class Recorder:
    """Writes each frame of a tap to the interface of its link."""

    def __init__(self, tap: Tap, writer: Writer, table: LinkTable, links: int) -> None:
        self._tap = tap
        self._writer = writer
        self._table = table
        self._started_ns = time.time_ns()
        self._received = [0] * links
        self.dropped = 0

    @property
    def received(self) -> int:
        return sum(self._received)

    def take(self) -> None:
        """Write what waits, and hand it to the operating system: a live reader sees it now."""
        packet, received = self._writer.packet, self._received
        for time_ns, data in self._tap.frames(TAKE_MAX):
            place = place_of(data, self._table)
            if place is not None:
                link, direction = place
                received[link] += 1
                packet(link, time_ns, data, direction)
        self._writer.flush()

    def drain(self) -> None:
        """Take what is still on its way, until it is quiet."""
        poll = select.poll()
        poll.register(self._tap, select.POLLIN)
        end = time.monotonic() + DRAIN_MAX_S
        self.take()
        while time.monotonic() < end and poll.poll(DRAIN_QUIET_MS):
            self.take()

    def finish(self) -> None:
        """Write what each link saw, and what was lost. The links share one queue, so losses are common."""
        now_ns = time.time_ns()
        self.dropped = self._tap.dropped()
        comments: tuple[str, ...] = ()
        if self.dropped:
            comments = (f"{self.dropped} frames were lost on all links together; on which is not known",)
        for link, received in enumerate(self._received):
            self._writer.write(
                Statistics(link, now_ns, self._started_ns, now_ns, received, self.dropped, comments)
            )
        self._writer.close()


def place_of(frame: bytes, table: LinkTable) -> Place | None:
    """Return the link of an Ethernet frame, None if it is not the run's."""
    kind = frame[12:14]
    at = _ETHERNET_BYTES
    if kind == b"\x08\x00" and len(frame) >= at + 20:
        src, dst, protocol = frame[at + 12 : at + 16], frame[at + 16 : at + 20], frame[at + 9]
        first = not int.from_bytes(frame[at + 6 : at + 8], "big") & 0x1FFF
        payload = at + 4 * (frame[at] & 15)
    elif kind == b"\x86\xdd" and len(frame) >= at + 40:
        src, dst, protocol = frame[at + 8 : at + 24], frame[at + 24 : at + 40], frame[at + 6]
        first, payload = True, at + 40
    else:
        return None
    if first and protocol in _WITH_PORTS and len(frame) >= payload + 4:
        return table.find(src, dst, *_PORTS.unpack_from(frame, payload))
    return table.find(src, dst, None, None)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    links: list[Link] = options.link
    try:
        table = LinkTable(links)
        tap = Tap(options.interface, table.pairs)
    except NotPermitted as error:
        return _say(str(error), EXIT_NOT_PERMITTED)
    except (BadInterface, ValueError) as error:
        return _say(str(error), 2)
    stream = None
    try:
        stream = options.out.open("wb")
        writer = Writer(stream, section(*options.comment))
        describe(writer, links, f"seen by the kernel on {options.interface}", dict(options.node))
        writer.flush()
        recorder = Recorder(tap, writer, table, len(links))
        asked_to_end = _signals()
        _tell("ready")
        _record(tap, recorder, asked_to_end)
        recorder.drain()
        recorder.finish()
    except OSError as error:
        if stream is not None:
            with suppress(OSError):  # what it still holds cannot be written either
                stream.close()
        return _say(f"Cannot write the capture {options.out}: {error.strerror}.", 1)
    _tell(f"recorded {recorder.received} frames, lost {recorder.dropped}")
    return 0


def _signals() -> int:
    """Return a descriptor that becomes readable when a signal asks for the end."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, _noted)
    # Ctrl-C reaches the whole group. The caller then ends the nodes, whose last frames belong into the
    # capture, and closes our input. Only a person at the terminal ends us by it.
    signal.signal(signal.SIGINT, _noted if os.isatty(0) else signal.SIG_IGN)
    return readable


def _record(tap: Tap, recorder: Recorder, asked_to_end: int) -> None:
    """Take frames until standard input closes or a signal asks for the end."""
    poll = select.poll()
    for descriptor in (tap.fileno(), asked_to_end, 0):
        poll.register(descriptor, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _event in poll.poll()}
        if tap.fileno() in ready:
            recorder.take()
        if asked_to_end in ready or (0 in ready and not _still_open(0)):
            return


def _still_open(descriptor: int) -> bool:
    try:
        return bool(os.read(descriptor, 4096))
    except OSError:
        return False


def _noted(_signal: int, _frame: FrameType | None) -> None:
    """The wake-up descriptor has already told the loop."""


def _tell(line: str) -> None:
    try:
        print(line, flush=True)
    except BrokenPipeError:  # the caller is gone; our input closes too
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _say(sentence: str, code: int) -> int:
    print(sentence, file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m captures.record",
        description="Record a run's links from the kernel until standard input closes.",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the pcapng file to write")
    parser.add_argument(
        "--link",
        type=_argument(parse_link),
        action="append",
        required=True,
        metavar="NAME=A>B",
        help="a link to record; NAME=A<>B for both ways",
    )
    parser.add_argument(
        "--node",
        type=_argument(parse_node),
        action="append",
        default=[],
        metavar="NAME=ADDRESS",
        help="a node's name, for Wireshark to show in place of its address",
    )
    parser.add_argument("--interface", default="lo", help="where to record (default: %(default)s)")
    parser.add_argument("--comment", action="append", default=[], help="a comment on the whole capture")
    return parser


def _argument(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Let argparse print the sentence of a ValueError, not just "invalid value"."""

    def parsed(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parsed


if __name__ == "__main__":
    sys.exit(main())
