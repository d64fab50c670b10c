"""The command line."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, Literal, NoReturn

import click

from nodes import __version__
from nodes.game import NAMES
from nodes.main import Seconds, node

GAME = click.argument("name", metavar="GAME", type=click.Choice(NAMES))
# The variables that both rich and the seat of a person go by.
COLOURS = {"auto": {}, "always": {"NO_COLOR": "", "FORCE_COLOR": "1"}, "never": {"NO_COLOR": "1"}}


def _console(colour: str = "auto", *, stderr: bool = False) -> Any:
    """A console; what --color says holds for the whole process, as a person's seat has one of its own."""
    from nodes.console import make_console

    os.environ |= COLOURS[colour]
    return make_console(stderr=stderr)


def _fail(text: str, code: int = 1) -> None:
    click.echo(f"wiretable: {text}", err=True)
    sys.exit(code)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="wiretable")
def main() -> None:
    """Wiretable: a packet-level network lab. Five real game protocols between real machines.

    \b
    Start here:
      wiretable run hearts           four machines play a game over real UDP
      wiretable play connect4        take a seat yourself
      wiretable decode               what was said in the newest run, message by message
      wiretable games                what there is: bots, knobs, seats
      wiretable explain hearts/3     the clause behind a check id
      wiretable shell                Scapy with all five protocols loaded
    """


main.add_command(node)

_SHARED = [
    click.option("--seed", type=int, help="Decides deal and bots: the same seed, the same bytes."),
    click.option("--games", type=click.IntRange(min=1), help="How many games (hands; connect4: a pair)."),
    click.option("--players", type=int, help="How many take part."),
    click.option(
        "-D",
        "--dialect",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help="Settle an open point otherwise; `wiretable games` lists them.",
    ),
    click.option(
        "--bot", "bots", multiple=True, metavar="[SEAT=]BOT", help="Who plays: for all seats, or for one."
    ),
    click.option(
        "--out",
        "store",
        type=click.Path(path_type=Path, file_okay=False),
        default="runs",
        show_default=True,
        help="Where run folders go, and `latest`.",
    ),
    click.option(
        "--capture",
        type=click.Choice(["auto", "kernel", "shells", "off"]),
        default="auto",
        show_default=True,
        help="Who records: the kernel, or the shells.",
    ),
    click.option(
        "--color",
        "colour",
        type=click.Choice(list(COLOURS)),
        default="auto",
        show_default=True,
        help="NO_COLOR=1 turns colours off too.",
    ),
]


def _shared(command: Any) -> Any:
    for option in reversed(_SHARED):
        command = option(command)
    return command


@main.command()
@GAME
@_shared
@click.option(
    "--pace",
    type=Seconds(),
    default=0.0,
    help="Seconds a bot waits before it acts, to watch.",
)
@click.option(
    "--silence",
    type=Seconds(0.1),
    default=60.0,
    show_default=True,
    help="Seconds without a word that count as a stall.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as one JSON object, nothing else.")
@click.option("--quiet", is_flag=True, help="Print the result only.")
def run(
    name: str,
    store: Path,
    capture: Literal["auto", "kernel", "shells", "off"],
    colour: str,
    pace: float,
    silence: float,
    as_json: bool,
    quiet: bool,
    **wishes: Any,
) -> None:
    """Play a whole game, every machine a process of its own, over real sockets.

    \b
    Examples:
      wiretable run hearts --seed 7
      wiretable run holdem --players 6 --games 20
      wiretable run connect4 --players 4 --bot random --bot p1=search
      wiretable run hearts -D ace=low --json

    Exit code: 0 finished and all machines agree; 1 not so; 2 wrong command line; 3 stalled; 130 Ctrl-C.
    """
    from labs.display import Display, show_outcome

    console = _console(colour, stderr=as_json)
    plan = _plan(name, pace_s=pace, **wishes)
    display = Display(console, plan, quiet=quiet or as_json)
    if not (quiet or as_json):
        display.headline()
    outcome = _run(plan, display, store=store, capture=capture, silence_s=silence)
    if as_json:
        click.echo(json.dumps({"game": name, "seed": plan.seed, **outcome.as_json()}, ensure_ascii=False))
    else:
        show_outcome(console, plan, outcome)
    sys.exit(outcome.exit_code)


@main.command()
@GAME
@_shared
@click.option("--seat", help="Where you sit; default: the first client, or m1 on the ring.")
@click.option(
    "--pace",
    type=Seconds(),
    default=0.6,
    show_default=True,
    help="Seconds a bot waits.",
)
def play(
    name: str,
    store: Path,
    capture: Literal["auto", "kernel", "shells", "off"],
    colour: str,
    seat: str | None,
    pace: float,
    **wishes: Any,
) -> None:
    """Take a seat yourself, bots in the others. Type `quit` or Ctrl-C to leave."""
    from labs.display import Display, show_outcome
    from labs.play import sit_at

    console = _console(colour)
    seat = seat or ("m1" if name == "hearts" else "p1")
    plan = _plan(name, pace_s=pace, person=seat, **wishes)
    display = Display(console, plan, quiet=True)
    display.headline()
    console.print(f"You are {seat}. Ctrl-C or the word quit leaves.")
    outcome = _run(plan, display, store=store, capture=capture, sit_down=sit_at(seat))
    if outcome.verdict == "interrupted":
        console.print()  # the question still stands on the line
    show_outcome(console, plan, outcome)
    sys.exit(outcome.exit_code)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
def games(as_json: bool) -> None:
    """List the games: their transport, seats, bots, and every dialect knob."""
    from labs.catalogue import as_tables, catalogue

    if as_json:
        click.echo(json.dumps(catalogue(), ensure_ascii=False, indent=2))
    else:
        _console().print(as_tables())


@main.command()
@click.argument("check", required=False)
@click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
def explain(check: str | None, as_json: bool) -> None:
    """Show the clause behind a check id (`hearts/3.len`), or all that begin so (`hearts`)."""
    from rich.padding import Padding
    from rich.text import Text

    from labs.catalogue import explained, nearest

    found = explained(check or "")
    if not found:
        _fail(f"no check is called '{check}'; did you mean {nearest(check or '')}?", 2)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    console = _console()
    for identity, clause in found.items():
        console.print(f"[bold]{identity}[/bold]", highlight=False)
        console.print(Padding(Text(f"« {clause['clause']} »", "italic"), (0, 0, 0, 2), expand=False))
        console.print(Padding(Text(clause["means"]), (0, 0, 0, 2), expand=False))


@main.command()
@click.argument("where", metavar="[FILE]", required=False)
@click.option("--filter", "expression", metavar="EXPR", help="Only messages that fit, as above.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json", "csv"]),
    default="text",
    show_default=True,
    help="For people, one JSON object a line, or a table.",
)
@click.option(
    "--port",
    "ports",
    multiple=True,
    metavar="GAME=PORT",
    help="Where a game is played, if not on its own port.",
)
@click.option("--stats", is_flag=True, help="Sum the capture up instead: counts, hop times, repeats.")
@click.option("--fields", is_flag=True, help="List every name a filter may use.")
@click.option("--color", "colour", type=click.Choice(list(COLOURS)), default="auto", show_default=True)
def decode(
    where: str | None,
    expression: str | None,
    style: Literal["text", "json", "csv"],
    ports: tuple[str, ...],
    stats: bool,
    fields: bool,
    colour: str,
) -> None:
    """Explain every message of a capture, one a line.

    FILE is a pcap or pcapng, gzip or not, `-` for standard input, or the folder of a run; without it, the
    newest run in runs/.

    \b
    Examples:
      wiretable decode runs/latest --filter 'hop == 1'
      wiretable decode game.pcap.gz --filter 'hearts.type == PLAY_CARD and hearts.origin == m2'
      wiretable decode --filter 'hearts.cards == Q♠ or check' --format json
      tcpdump -i lo -U -w - udp | wiretable decode - --port hearts=40001

    A filter compares (== != < <= > >=), asks `in {…}`, `contains`, `matches "…"`, and joins by and, or, not.
    `--fields` lists its names. Values go by number or by name.

    Exit code: 0; 1 the file could not be read, or not to its end; 2 wrong command line; 130 Ctrl-C.
    """
    from labs.decode import command

    console = _console(colour)
    sys.exit(command(where, expression, style, ports, stats=stats, fields=fields, console=console))


@main.command()
def shell() -> None:
    """Open Scapy with all five protocols loaded. Lines may also come from a pipe."""
    from labs.shell import interact

    interact()


@main.command()
@click.option("--json", "as_json", is_flag=True, help="The figures as JSON.")
@click.option("--quick", is_flag=True, help="Shorter runs, rougher figures.")
@click.argument("rows", nargs=-1)
def bench(as_json: bool, quick: bool, rows: tuple[str, ...]) -> None:
    """Measure speed: every figure beside a peer that is measured in the same run."""
    from labs.bench import UnknownRowError, measure, show

    try:
        figures = measure(rows, quick=quick, progress=_console(stderr=True))
    except UnknownRowError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(json.dumps([figure.as_json() for figure in figures], ensure_ascii=False, indent=2))
    else:
        show(_console(), figures)
    sys.exit(0 if all(figure.met is not False for figure in figures) else 1)


@main.command(context_settings={"ignore_unknown_options": True})
@click.option("--quick", is_flag=True, help="No coverage, no other Pythons.")
@click.option("--full", is_flag=True, help="Also what is left out elsewhere for time.")
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
def test(quick: bool, full: bool, pytest_args: tuple[str, ...]) -> None:
    """Set up what the tests need and run every gate: ruff, mypy, pytest, coverage."""
    from labs.testing import run_tests

    sys.exit(run_tests(pytest_args, quick=quick, full=full))


def _plan(name: str, **wishes: Any) -> Any:
    from labs.plan import make

    try:
        return make(name, **wishes)
    except ValueError as error:  # PlanError, DialectError
        raise click.UsageError(str(error)) from None


def _run(plan: Any, display: Any, **how: Any) -> Any:
    """Run with errors as sentences, and SIGTERM as orderly an end as Ctrl-C, however often it comes."""
    from labs.folder import FolderError
    from labs.run import run as run_plan
    from nodes.process import on_signals

    def interrupt(_number: int, _frame: object) -> NoReturn:
        on_signals(signal.SIG_IGN)  # once is enough: what follows is bounded, and must not be cut short
        raise KeyboardInterrupt

    on_signals(interrupt)
    try:
        return run_plan(plan, display=display, **how)
    except FolderError as error:
        _fail(str(error))
    except KeyboardInterrupt:  # before anything was started
        _fail("interrupted", 130)


if __name__ == "__main__":
    main()
