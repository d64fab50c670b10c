"""From a capture to the messages of its games: every one decoded and explained, none lost.

    messages = read(Path("capture.pcapng"))
    for seen in messages: …
    messages.problem      why not all of the file could be read, if so
    messages.notes()      what else is to be said: frames that gave nothing, and why

The nodes' own codecs decide what a message is. What they refuse is shown too, with the id of the clause.
Beside the games' own kinds there are

    malformed   bytes that the codec, or the WebSocket beneath it, refuses: `check` and `error` say why
    cut         a message of which the capture holds only a part
    gap         a piece of a stream that was never captured
    comment     a packet comment on a frame that completes no message
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from captures.datagrams import READERS
from captures.directory import Directory, run_beside
from captures.layers import Packet, Unread, dissect
from captures.seen import COMMENT, CUT, GAP, MALFORMED, Reading, Seen, cut
from captures.source import Record, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from captures.datagrams import Datagrams
    from captures.dialogues import Dialogue
    from dissectors.streams import Connection, Event

__all__ = ["COMMENT", "CUT", "GAP", "MALFORMED", "Messages", "Seen", "read"]

# A connection that has been silent while this many others spoke is forgotten.
DIALOGUES_MAX = 4096
FORGOTTEN_MAX = 65_536  # so that one which speaks again is known to be read from its middle on


def read(where: Path | str | BinaryIO, *, ports: Mapping[str, int] | None = None) -> Messages:
    """The messages of a capture: a path, `-` for standard input, or a stream. `ports` are by game.

    Raises CaptureError where there is no capture at all; later trouble ends the iteration, see `problem`.
    """
    run = run_beside(Path(where)) if isinstance(where, str | Path) and where != "-" else {}
    return Messages(Source(where), ports, run)


class Messages:
    """The messages, once, in the order of the capture; streams that never ended come last."""

    def __init__(
        self, source: Source, ports: Mapping[str, int] | None = None, run: Mapping[str, Any] | None = None
    ) -> None:
        self.source = source
        self.frames = 0
        self.unread: Counter[Unread] = Counter()
        self.foreign = 0  # packets of no game
        self.started_ns: int | None = None  # the first frame
        self._directory = Directory(source.names, ports, run)
        self._datagrams: dict[str, Datagrams] = {}
        self._streams: Streams | None = None

    @property
    def problem(self) -> str | None:
        """Why reading ended early, as a sentence; None if it did not (yet)."""
        return self.source.problem

    def notes(self) -> list[str]:
        """What a reader should know of frames that gave no message."""
        found = [
            f"{count} of {self.frames} frames {why.value}"
            for why, count in sorted(self.unread.items(), key=lambda item: item[0].name)
        ]
        if self.foreign:
            found.append(
                f"{self.foreign} of {self.frames} frames are of no game's port; --port GAME=PORT names one"
            )
        return found

    def __iter__(self) -> Iterator[Seen]:
        with self.source:
            for record in self.source:
                self.frames += 1
                if self.started_ns is None:
                    self.started_ns = record.time_ns
                if record.comments:
                    yield from _commented(record, list(self._record(record)))
                else:
                    yield from self._record(record)
        if self._streams is not None:
            yield from self._streams.finish()

    def _record(self, record: Record) -> Iterator[Seen]:
        packet = dissect(record.link_type, record.data)
        if not isinstance(packet, Packet):
            self.unread[packet] += 1
            return
        game = self._directory.game(packet.proto, packet.sport, packet.dport)
        if game is None:
            self.foreign += 1
            return
        if packet.proto == "tcp":
            if self._streams is None:
                self._streams = Streams(self._directory)
            yield from self._streams.take(record, packet)
            return
        src, dst = (
            self._directory.name(packet.src, packet.sport),
            self._directory.name(packet.dst, packet.dport),
        )
        if packet.missing:
            size = len(packet.payload)
            reading = cut(f"the capture holds {size} of {size + packet.missing} bytes", packet.payload)
        else:
            reader = self._datagrams.get(game)
            if reader is None:
                reader = self._datagrams[game] = READERS[game]()
            reading = reader.read(packet.payload, src, dst, record.link)
        yield _seen(record.number, record.time_ns, record.link, game, src, dst, reading)


@dataclass(slots=True)
class _Talk:
    """One connection and what is said on it."""

    dialogue: Dialogue
    game: str
    client: str
    server: str
    link: str
    whole: bool  # read from its beginning on by this very object
    ended: int = 0
    frame: int = 0  # the last that mattered, and when
    time_ns: int = 0


class Streams:
    """All TCP connections of a capture. Made with the first segment: dissectors bring Scapy with them."""

    def __init__(
        self, directory: Directory, dialogues: Mapping[str, Callable[[str, str], Dialogue]] | None = None
    ) -> None:
        from captures.dialogues import DIALOGUES
        from dissectors import streams

        self._directory = directory
        self._kinds = dialogues or DIALOGUES
        self._streams = streams
        self._reassembler = streams.Reassembler(directory.servers)
        self._talks: OrderedDict[int, _Talk] = OrderedDict()
        self._forgotten: OrderedDict[int, None] = OrderedDict()

    def take(self, record: Record, packet: Packet) -> Iterator[Seen]:
        segment = self._streams.Segment(
            packet.src, packet.sport, packet.dst, packet.dport, packet.seq, packet.ack, packet.flags,
            packet.payload, record.number, record.time_ns,
        )  # fmt: skip
        for event in self._reassembler.add(segment):
            yield from self._event(event, record.link)

    def finish(self) -> Iterator[Seen]:
        """What the end of the capture leaves unsaid."""
        for event in self._reassembler.finish():
            yield from self._event(event, None)
        for talk in self._talks.values():
            for from_client in (True, False):
                for reading in talk.dialogue.end(from_client):
                    src, dst = (talk.client, talk.server) if from_client else (talk.server, talk.client)
                    yield _seen(talk.frame, talk.time_ns, talk.link, talk.game, src, dst, reading)
        self._talks.clear()

    def _event(self, event: Event, link: str | None) -> Iterator[Seen]:
        connection, from_client = event.connection, event.from_client
        talk = self._talk(connection, link)
        if talk is None:
            return
        if link is None:
            link = talk.link
        talk.frame, talk.time_ns = event.frame, event.time_ns
        src, dst = (talk.client, talk.server) if from_client else (talk.server, talk.client)
        began = talk.whole and connection.began(from_client)
        if isinstance(event, self._streams.Data):
            readings = talk.dialogue.feed(from_client, event.data, began)
        elif isinstance(event, self._streams.Gap):
            text = f"{event.missing} bytes of {src}→{dst} are missing from the capture"
            readings = [Reading(GAP, text, b"", error=text)]
            readings += talk.dialogue.lost(from_client, event.missing, began)
        else:
            readings = talk.dialogue.end(from_client)
            talk.ended += 1
            if talk.ended == 2:
                del self._talks[connection.number]
        for reading in readings:
            yield _seen(event.frame, event.time_ns, link, talk.game, src, dst, reading)

    def _talk(self, connection: Connection, link: str | None) -> _Talk | None:
        talk = self._talks.get(connection.number)
        if talk is not None:
            self._talks.move_to_end(connection.number)
            return talk
        (client, cport), (server, sport) = connection.client, connection.server
        game = self._directory.game("tcp", cport, sport)
        if game is None:
            return None
        if len(self._talks) >= DIALOGUES_MAX:
            self._forgotten[self._talks.popitem(last=False)[0]] = None
            if len(self._forgotten) > FORGOTTEN_MAX:
                self._forgotten.popitem(last=False)
        names = self._directory.name(client, cport), self._directory.name(server, sport)
        whole = connection.number not in self._forgotten
        talk = _Talk(self._kinds[game](*names), game, *names, link or "", whole)
        self._talks[connection.number] = talk
        return talk


def _seen(frame: int, time_ns: int, link: str, game: str, src: str, dst: str, reading: Reading) -> Seen:
    return Seen(
        frame, time_ns, link, reading.hop, game, src, dst, reading.kind, reading.fields, reading.meaning,
        reading.check, reading.error, (), reading.data, reading.repeat,
    )  # fmt: skip


def _commented(record: Record, found: list[Seen]) -> list[Seen]:
    """Put a frame's comments with its first message; alone where it has none."""
    mine = next((seen for seen in found if seen.frame == record.number), None)
    if mine is None:
        text = " / ".join(record.comments)
        mine = Seen(record.number, record.time_ns, record.link, None, "", "", "", COMMENT, {}, text)
        found.append(mine)
    mine.comments = record.comments
    return found
