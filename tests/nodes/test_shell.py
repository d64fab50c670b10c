"""What all shells share: the way between a core, its log and whoever decides."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from nodes.core import Core, Happened, LocalProtocolError, Player, Send, Turn
from nodes.log import Log
from nodes.shell import Driver, Person, make_clock
from nodes.terminal import Leave, Overtaken
from tests.labs.command import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from nodes.core import Event, Output


class Counting(Core):
    """Asks for a number three times; only even ones are legal."""

    def __init__(self, alarm_s: float | None = None) -> None:
        super().__init__()
        self.taken: list[int] = []
        self.rang = 0
        self._alarm_s = alarm_s

    def start(self, now: float) -> None:  # noqa: ARG002
        self._ask()

    def receive(self, data: bytes, peer: str, now: float) -> None:
        pass

    def act(self, turn: Turn, choice: Any, now: float) -> None:  # noqa: ARG002
        if choice % 2:
            raise LocalProtocolError("test/even", f"{choice} is odd")
        self.taken.append(choice)
        self._outputs.append(Send("next", bytes([choice])))
        self.done = len(self.taken) == 3
        if not self.done:
            self._ask()

    def timer(self) -> float | None:
        return self._alarm_s

    def handle_timer(self, now: float) -> None:  # noqa: ARG002
        self.rang += 1
        self._alarm_s = None

    def _ask(self) -> None:
        self._events.append(Turn("m0", len(self.taken)))


class Scripted(Player):
    """Gives the answers of a list; an exception in it is raised."""

    def __init__(self, *answers: int | Exception) -> None:
        self._answers = list(answers)
        self.heard: list[Event] = []
        self.complaints: list[str] = []
        self.threads: set[str] = set()

    def choose(self, view: Any) -> int:  # noqa: ARG002
        self.threads.add(threading.current_thread().name)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def tell(self, event: Event) -> None:
        self.heard.append(event)

    def complain(self, text: str) -> None:
        self.complaints.append(text)


def driver(core: Core, player: Player, **options: float) -> Driver:
    return Driver(core, player, Log("m0"), **options)


def sending(sent: list[bytes]) -> Callable[[Output], None]:
    return lambda output: sent.append(output.data) if isinstance(output, Send) else None


def test_the_clock_never_goes_back_and_tells_the_time_of_day() -> None:
    clock = make_clock()
    times = [clock() for _ in range(1000)]
    assert times == sorted(times)
    assert times[0] > 1_600_000_000


def test_a_bot_is_asked_at_once_and_its_bytes_go_out() -> None:
    core, player, sent = Counting(), Scripted(2, 4, 6), []  # type: ignore[var-annotated]
    driven = driver(core, player)
    core.start(driven.clock())
    driven.pump(sending(sent))
    assert sent == [b"\x02", b"\x04", b"\x06"]
    assert driven.over
    assert len(player.heard) == 3


def test_a_paced_bot_acts_only_when_its_time_has_come() -> None:
    core, player = Counting(), Scripted(2, 4, 6)
    driven = driver(core, player, pace_s=10.0)
    now = driven.clock()
    driven.clock = lambda: now
    core.start(now)
    for turns in range(3):
        driven.pump(lambda _: None)
        assert driven.timer() == now + 10.0
        driven.handle_timer()
        assert len(core.taken) == turns
        now += 10.0
        driven.handle_timer()
        assert len(core.taken) == turns + 1
    assert driven.over


@pytest.mark.parametrize(("alarm_s", "first"), [(5.0, "core"), (15.0, "bot")])
def test_the_earlier_of_the_cores_timer_and_the_bots_rings_first(alarm_s: float, first: str) -> None:
    now = 1000.0
    core = Counting(now + alarm_s)
    driven = driver(core, Scripted(2, 4, 6), pace_s=10.0)
    driven.clock = lambda: now
    core.start(now)
    driven.pump(lambda _: None)
    due = driven.timer()
    assert due == now + min(alarm_s, 10.0)
    now = due
    driven.handle_timer()
    assert (core.rang, len(core.taken)) == ((1, 0) if first == "core" else (0, 1))


def until_over(driven: Driver, woken: threading.Semaphore, sent: list[bytes]) -> None:
    driven.pump(sending(sent))
    while not driven.over:
        assert woken.acquire(timeout=PATIENCE_S)
        driven.pump(sending(sent))


def at_table(player: Scripted) -> tuple[Driver, list[bytes]]:
    """A person plays to the end."""
    core = Counting()
    driven, woken, sent = driver(core, player), threading.Semaphore(0), []  # type: ignore[var-annotated]
    driven.ask_in_background(woken.release)
    core.start(driven.clock())
    until_over(driven, woken, sent)
    return driven, sent


def test_a_person_is_asked_on_a_thread_and_again_after_an_illegal_choice() -> None:
    player = Scripted(2, 3, 5, 4, 6)
    driven, sent = at_table(player)
    assert sent == [b"\x02", b"\x04", b"\x06"]
    assert player.threads == {"person"}
    assert player.complaints == ["3 is odd", "5 is odd"]
    assert (driven.left, driven.failure) == (False, None)


def test_a_person_may_leave() -> None:
    driven, sent = at_table(Scripted(2, Leave()))
    assert sent == [b"\x02"]
    assert (driven.left, driven.failure) == (True, None)


def test_a_fault_in_what_asks_the_person_is_not_a_silence() -> None:
    fault = KeyError("a fault of ours")
    driven, _ = at_table(Scripted(2, fault))
    assert driven.over
    assert driven.failure is fault


def test_an_answer_after_the_end_finds_nobody_and_hurts_nobody() -> None:
    asked, answer = threading.Event(), threading.Event()
    faults: list[object] = []

    class Slow(Player):
        def choose(self, view: Any) -> int:  # noqa: ARG002
            asked.set()
            answer.wait(PATIENCE_S)
            return 2

    def wake() -> None:
        raise RuntimeError("Event loop is closed")

    core = Counting()
    driven = driver(core, Slow())
    before = threading.excepthook
    threading.excepthook = faults.append
    try:
        driven.ask_in_background(wake)
        core.start(driven.clock())
        driven.pump(lambda _: None)
        assert asked.wait(PATIENCE_S)
        (person,) = [thread for thread in threading.enumerate() if thread.name == "person"][-1:]
        answer.set()
        person.join(0.2)  # it waits for the next question
    finally:
        threading.excepthook = before
    assert faults == []
    assert person.is_alive()


def test_what_happened_is_told_to_a_person() -> None:
    core, player = Counting(), Scripted()
    core._events.append(Happened("trick", "m0 takes it"))
    driver(core, player).pump(lambda _: None)
    assert player.heard == [Happened("trick", "m0 takes it")]


class Slow(Player):
    """Thinks about a question until it is taken back; answers the one called now."""

    def __init__(self) -> None:
        self.overtaken = threading.Event()
        self.thinking = threading.Event()

    def choose(self, view: Any) -> Any:
        if view == "now":
            return view
        self.thinking.set()
        assert self.overtaken.wait(PATIENCE_S)
        self.overtaken.clear()
        raise Overtaken


def test_a_question_whose_time_ran_out_gives_way_to_the_next() -> None:
    player, answered = Slow(), threading.Event()
    person = Person(player, answered.set, player.overtaken.set)
    person.ask(Turn("p1", "then"))
    assert player.thinking.wait(PATIENCE_S)
    now = Turn("p1", "now")
    person.ask(now)
    assert answered.wait(PATIENCE_S)
    assert person.answers() == [(now, "now")]
