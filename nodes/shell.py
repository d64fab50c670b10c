"""What all shells share: the clock, and the way between a core, its log and whoever decides."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from nodes.core import LocalProtocolError, Player, Turn
from nodes.terminal import Leave, Overtaken

if TYPE_CHECKING:
    from nodes.address import Address
    from nodes.core import Core, Event, Output
    from nodes.log import Log

Clock = Callable[[], float]


class ShellError(Exception):
    """The machine or the network does not let us begin. The text says what to do."""


def why(error: OSError) -> str:
    """The reason in the kernel's own words: asyncio's repeat the address."""
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return error.strerror or str(error)  # a name that nobody knows has a number of another kind


def cannot_listen(where: Address, error: OSError) -> ShellError:
    return ShellError(f"cannot listen on {where}: {why(error)}; choose another address with --listen")


def make_clock() -> Clock:
    """Seconds since 1970 that never go back, whatever happens to the machine's clock."""
    offset = time.time() - time.monotonic()
    monotonic = time.monotonic
    return lambda: monotonic() + offset


def drain(core: Core, now: float, send: Callable[[Output], None], hear: Callable[[Event], None]) -> None:
    """Let a core say all it has to say: bytes to `send`, events to `hear`, until there is no more."""
    while True:
        outputs = core.data_to_send(now)
        for output in outputs:
            send(output)
        event = core.next_event()
        if event is not None:
            hear(event)
        elif not outputs:
            return


class Driver:
    """One core, its player and its log. A shell feeds it; it never touches a socket."""

    def __init__(self, core: Core, player: Player | None, log: Log, *, pace_s: float = 0.0) -> None:
        self.core = core
        self.clock = make_clock()
        self.left = False  # the person went away
        self.failure: Exception | None = None  # a fault of ours in what asks the person
        self._player = player
        # Bots do not listen, and a ring node has no time for them to say so.
        self._tell = None if player is None or type(player).tell is Player.tell else player.tell
        self._log = log
        self._pace_s = pace_s
        self._paced: list[tuple[float, Turn]] = []  # turns that wait, so that people can follow
        self._person: Person | None = None
        # How to take a question back from a person who has but one game: set where there is one.
        self.interrupt: Callable[[], None] | None = None

    @property
    def over(self) -> bool:
        return self.core.done or self.left

    def ask_in_background(self, wake: Callable[[], object]) -> None:
        """The player is a person: ask on a thread of its own, and call `wake` when there is an answer."""
        assert self._player is not None
        self._person = Person(self._player, wake, self.interrupt)

    def pump(self, send: Callable[[Output], None]) -> None:
        """Take the person's answers, let the core speak, write the log."""
        if self._person is not None:
            self._take_answers(self._person)
        drain(self.core, self.clock(), send, self._hear)
        self._log.flush()

    def note(self, event: Event) -> None:
        """Write down what the shell has to say."""
        self._log.write(event, self.clock())

    def timer(self) -> float | None:
        """When to call handle_timer."""
        due = self.core.timer()
        if self._paced and (due is None or self._paced[0][0] < due):
            return self._paced[0][0]
        return due

    def handle_timer(self) -> None:
        now = self.clock()
        while self._paced and self._paced[0][0] <= now:
            self._choose(self._paced.pop(0)[1])
        due = self.core.timer()
        if due is not None and due <= now:
            self.core.handle_timer(now)

    def _hear(self, event: Event) -> None:
        now = self.clock()
        self._log.write(event, now)
        if self._tell is not None:
            self._tell(event)
        if not isinstance(event, Turn):
            return
        if self._person is not None:
            self._person.ask(event)
        elif self._pace_s > 0:
            self._paced.append((now + self._pace_s, event))
        else:
            self._choose(event)

    def _choose(self, turn: Turn) -> None:
        assert self._player is not None, "a core that asks for decisions was started without a player"
        self.core.act(turn, self._player.choose(turn.view), self.clock())

    def _take_answers(self, person: Person) -> None:
        for turn, choice in person.answers():
            if isinstance(choice, Exception):
                self.left = True
                self.failure = None if isinstance(choice, Leave) else choice
                return
            try:
                self.core.act(turn, choice, self.clock())
            except LocalProtocolError as error:
                person.complain(error.text)
                person.ask(turn)


class Person:
    """Asks a player on a thread, so that the wire is served while a person thinks.

    The thread is a daemon: it may sit in a read from the terminal for ever, and must not keep
    the process alive.
    """

    def __init__(
        self, player: Player, wake: Callable[[], object], interrupt: Callable[[], None] | None = None
    ) -> None:
        self._player = player
        self._wake = wake
        self._interrupt = interrupt
        self._asking = False
        self._turns: queue.SimpleQueue[Turn] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[Turn, object]] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="person", daemon=True).start()

    def ask(self, turn: Turn) -> None:
        """Ask this next. A question still open is taken back: its time ran out, or this would not come."""
        self._turns.put(turn)
        if self._asking and self._interrupt is not None:
            self._interrupt()

    def answers(self) -> list[tuple[Turn, object]]:
        """All answers given since the last call."""
        found = []
        while not self._answers.empty():
            found.append(self._answers.get())
        return found

    def complain(self, text: str) -> None:
        self._player.complain(text)

    def _work(self) -> None:
        while True:
            turn = self._turns.get()
            self._asking = True
            try:
                choice: object = self._player.choose(turn.view)
            except Overtaken:
                if self._turns.empty():
                    self._turns.put(turn)  # it came just after an answer, and meant that one
                continue
            except Exception as error:  # Leave among them
                choice = error
            finally:
                self._asking = False
            self._answers.put((turn, choice))
            # The game may have ended while the person thought, and the shell with it.
            with contextlib.suppress(OSError, RuntimeError):
                self._wake()
