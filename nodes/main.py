"""`wiretable node …`: the one program a container or a physical machine runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nodes import address, game
from nodes.process import PERSON, Options, run_node

if TYPE_CHECKING:
    from collections.abc import Callable

    from nodes.address import Address
    from nodes.game import Game, Seat


class AddressType(click.ParamType[Any]):
    """HOST:PORT on the command line; the port may be left out where the game has one."""

    name = "host:port"

    def __init__(self, default_port: int | None = None) -> None:
        self._default_port = default_port

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return address.parse(value, self._default_port)
        except address.AddressError as error:
            self.fail(str(error), param, ctx)


SECONDS_MAX = 86_400.0


class Seconds(click.FloatRange):
    """A time on the command line; not a number is below no limit, and yet no time."""

    def __init__(self, least: float = 0.0) -> None:
        super().__init__(least, SECONDS_MAX)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if seconds != seconds:
            self.fail(f"{value} is no time", param, ctx)
        return seconds


FILE = click.Path(path_type=Path, dir_okay=False)

COMMON = [
    click.option("--seed", type=int, help="Decides deal and bots. Default: a new one, told in the log."),
    click.option("--games", type=click.IntRange(min=0), help="How many games; 0: until stopped."),
    click.option("--players", type=int, help="How many take part."),
    click.option(
        "-D", "--dialect", multiple=True, metavar="KEY=VALUE", help="Settle an open point otherwise."
    ),
    click.option("--bot", help=f"Who decides: a bot's name, or '{PERSON}' for you."),
    click.option("--log", type=FILE, help="Every event, as JSON lines."),
    click.option("--tape", type=FILE, help="All bytes sent, as JSON lines."),
    click.option("--json", is_flag=True, help="Tell the story as JSON lines."),
    click.option("--quiet", is_flag=True, help="Tell only where it listens and how it ended."),
    click.option(
        "--pace",
        type=Seconds(),
        default=0.0,
        help="Seconds a bot waits before it acts.",
    ),
    click.option("--until-eof", is_flag=True, help="End when standard input closes."),
]


def _common(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options every node has."""
    for option in reversed(COMMON):
        command = option(command)
    return command


def _run(
    played: Game, seat: Seat, options: dict[str, Any], listen: Address | None, peers: dict[str, Address]
) -> None:
    """Run to the end and leave. A person's mistake becomes one sentence and exit code 2."""
    try:
        sys.exit(run_node(played, seat, Options(**options), listen=listen, peers=peers))
    except ValueError as error:  # SetupError, DialectError, AddressError
        raise click.UsageError(str(error)) from None


@click.group(name="node")
def node() -> None:
    """Run one machine of a game: a ring node, a server or a client.

    \b
    Four machines form the ring with four such lines:
      wiretable node hearts --id 0 --listen 0.0.0.0:47123 --next HOST1:47123
      wiretable node hearts --id 1 --listen 0.0.0.0:47123 --next HOST2:47123
      …
    A server and its clients:
      wiretable node connect4 server --listen 0.0.0.0:3000
      wiretable node connect4 client --connect HOST:3000 --name ada
    """


@node.command("hearts")
@click.option(
    "--id",
    "index",
    type=click.IntRange(0, 3),
    required=True,
    help="This machine's place in the ring; 0 deals.",
)
@click.option(
    "--listen",
    type=AddressType(47123),
    default="0.0.0.0:47123",
    show_default=True,
    help="Where the previous machine sends to.",
)
@click.option("--next", "after", type=AddressType(47123), required=True, help="The next machine of the ring.")
@_common
def hearts(index: int, listen: Address, after: Address, **options: Any) -> None:
    """One machine of the Hearts ring ("Copas", UDP)."""
    played = game.load("hearts")
    seat = played.seats(4)[index]
    _run(played, seat, options, listen, {"next": after})


def _star(name: str, title: str, port: int) -> None:
    """`node NAME server` and `node NAME client`: the same options for every client/server game."""

    @node.group(name, help=title)
    def group() -> None:
        pass

    @group.command("server")
    @click.option(
        "--listen",
        type=AddressType(port),
        default=f"0.0.0.0:{port}",
        show_default=True,
        help="Where clients connect.",
    )
    @_common
    def server(listen: Address, **options: Any) -> None:
        """The server. Plays on until stopped, unless --games is given."""
        played = game.load(name)
        if options["games"] is None:
            options["games"] = 0
        _run(played, game.Seat("server", "server", 0), options, listen, {})

    @group.command("client")
    @click.option("--connect", "there", type=AddressType(port), required=True, help="The server.")
    @click.option("--bind", type=AddressType(0), help="Connect from this address of ours.")
    @click.option("--name", "called", default="p1", show_default=True, help="This player's name.")
    @click.option(
        "--id",
        "index",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="This player's number.",
    )
    @_common
    def client(there: Address, bind: Address | None, called: str, index: int, **options: Any) -> None:
        """One client."""
        played = game.load(name)
        seat = game.Seat(called, "client", index)
        _run(played, seat, options, bind, {"server": there})


_star("briscola", "Briscola (SBGP): 16-bit words over UDP.", 47200)
_star("tictactoe", 'Tic-tac-toe ("Bom Velhinho"): 12 characters over TCP.', 6666)
_star("holdem", "Texas hold'em: length-prefixed JSON over TCP.", 2333)
_star("connect4", 'Connect Four ("Puissance 4"): text over WebSocket.', 3000)
