"""One node as a process: its core under its shell, with signals, logs and exit codes."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn

from nodes import address, dialect, game
from nodes.core import Happened, LocalProtocolError
from nodes.log import LISTENING, Log
from nodes.shell import Driver, ShellError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nodes.address import Address
    from nodes.console import ConsoleTerminal
    from nodes.core import Peer, Player
    from nodes.game import Game, Seat
    from nodes.streams import StreamShell
    from nodes.tape import Tape

SEED_BITS = 32
PERSON = "human"
EXIT_LEFT = 128 + signal.SIGINT  # a person who types quit ends a game as one who presses Ctrl-C does


class SetupError(ValueError):
    """A person asked for something that is not to be had. The text says what is."""


@dataclass(frozen=True, slots=True)
class Options:
    """What every kind of node takes."""

    seed: int | None
    games: int | None
    players: int | None
    dialect: tuple[str, ...]
    bot: str | None
    log: Path | None
    tape: Path | None
    json: bool
    quiet: bool
    pace: float
    until_eof: bool


class Interrupted(Exception):
    """A signal came; its number is the argument."""


def run_node(
    played: Game, seat: Seat, options: Options, *, listen: Address | None, peers: dict[str, Address]
) -> int:
    """Build the core, put it under its shell, run it to its end. The exit code."""
    settings: object = dialect.parse(played.dialect, options.dialect)
    seed = secrets.randbits(SEED_BITS) if options.seed is None else options.seed
    players = played.default_players if options.players is None else options.players
    if players not in played.players:
        raise SetupError(f"{played.name} is for {game.numbers(played.players)} players, not {players}")
    games = played.default_games if options.games is None else options.games
    setup = game.Setup(seat, settings, game.rng_for(seed, seat.name), players, games)
    try:
        core = played.core(setup)
    except LocalProtocolError as error:  # a name that the protocol cannot say
        raise SetupError(error.text) from None
    terminal = _terminal() if options.bot == PERSON else None
    player = _player(played, seat, options.bot, seed, terminal)
    story = None if options.bot == PERSON else sys.stdout
    style: Literal["text", "json"] = "json" if options.json else "text"
    try:
        log = Log(seat.name, file=options.log, story=story, style=style, brief=options.quiet)
    except OSError as error:
        raise SetupError(f"cannot write the log {options.log}: {error.strerror}") from None
    driver = Driver(core, player, log, pace_s=options.pace)
    if terminal is not None and seat.role != "server":  # a server has many games, and all may wait
        driver.interrupt = terminal.interrupt
    tape = _tape(played, options.tape, driver)

    def listening(where: Address) -> None:
        log.write(
            Happened(LISTENING, f"listening on {where} (seed {seed})", {"address": str(where), "seed": seed}),
            driver.clock(),
        )
        log.flush()

    if options.until_eof:
        _end_with_stdin()
    try:
        serve = _serve_datagrams if played.transport == "udp" else _serve_streams
        peers = {name: address.resolve(there) for name, there in peers.items()}
        signalled = serve(played, driver, options, tape, listen, peers, listening)
    except ShellError as error:
        print(f"wiretable node: {error}", file=sys.stderr)
        return 1
    finally:
        log.close()
    if driver.failure is not None:
        raise driver.failure
    if signalled is not None:
        return 128 + signalled
    return EXIT_LEFT if driver.left else 0


def _tape(played: Game, path: Path | None, driver: Driver) -> Tape | None:
    if path is None:
        return None
    from nodes.tape import Tape

    try:
        return Tape(path, "udp" if played.transport == "udp" else "tcp", driver.clock)
    except OSError as error:
        raise SetupError(f"cannot write the tape {path}: {error.strerror}") from None


def _serve_datagrams(
    played: Game,
    driver: Driver,
    options: Options,
    tape: Tape | None,
    listen: Address | None,
    peers: dict[str, Address],
    listening: Callable[[Address], None],
) -> int | None:
    from nodes.udp import UdpShell

    peer_of = _peer_names(played, peers)
    shell = UdpShell(
        driver, listen or address.Address("0.0.0.0", 0), routes=peers, peer_of=peer_of, tape=tape
    )
    if options.bot == PERSON:
        shell.ask_in_background()
    try:
        try:
            on_signals(_interrupt)
            listening(shell.address)
            shell.run()
        finally:
            on_signals(signal.SIG_IGN)  # the end is near anyway, and must be orderly
            shell.close()
    except Interrupted as signalled:
        return int(signalled.args[0])
    return None


def _peer_names(played: Game, peers: dict[Peer, Address]) -> Callable[[tuple[str, int]], Peer | None]:
    """What to call the sender of a datagram. A client listens to its server alone."""
    if played.topology == "ring":
        return lambda _: "prev"
    if peers:
        names = {tuple(there): name for name, there in peers.items()}
        return lambda there: names.get(there[:2])
    return lambda there: str(address.Address(*there[:2]))


def _serve_streams(
    played: Game,
    driver: Driver,
    options: Options,
    tape: Tape | None,
    listen: Address | None,
    peers: dict[str, Address],
    listening: Callable[[Address], None],
) -> int | None:
    import asyncio  # a sixth of a node's start-up; datagrams do without

    if played.transport == "tcp":
        from nodes.tcp import TcpShell as Shell
    else:
        from nodes.websocket import WebSocketShell as Shell  # type: ignore[assignment]

    async def serve() -> StreamShell:
        shell = Shell(driver, server=peers.get("server"), local=listen, tape=tape)
        shell.on_listening = listening
        if options.bot == PERSON:
            shell.ask_in_background()
        await shell.run()
        return shell

    return asyncio.run(serve()).signal


def _terminal() -> ConsoleTerminal:
    from nodes.console import ConsoleTerminal  # rich is for people; bots need not wait for it

    return ConsoleTerminal()


def _player(
    played: Game, seat: Seat, bot: str | None, seed: int, terminal: ConsoleTerminal | None
) -> Player | None:
    if seat.role not in played.default_bots:
        if bot is not None:
            raise SetupError(f"a {seat.role} of {played.name} decides nothing; leave --bot out")
        return None
    if terminal is not None:
        return played.human(terminal)
    name = bot or played.default_bots[seat.role]
    if name not in played.bots:
        raise SetupError(f"{played.name} has no bot '{name}'; it has: {', '.join(played.bots)}, {PERSON}")
    return played.bots[name](game.bot_rng_for(seed, seat.name))


def on_signals(handler: Callable[[int, object], NoReturn] | signal.Handlers) -> None:
    """Who hears Ctrl-C and SIGTERM from now on."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)


def _interrupt(number: int, _frame: object) -> NoReturn:
    on_signals(signal.SIG_IGN)
    raise Interrupted(number)


def _end_with_stdin() -> None:
    """End when standard input does: an engine that dies takes its nodes along, whatever killed it."""

    def watch() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="stdin", daemon=True).start()
