"""Addresses for machines that share one host."""

from __future__ import annotations

import socket

import pytest

from labs.engines import loopback
from labs.engines.loopback import NoAddressError, reserve
from nodes.game import NAMES, load

HEARTS = load("hearts")
SEATS = HEARTS.seats(4)


@pytest.mark.parametrize("name", NAMES)
def test_every_seat_has_an_address_of_its_own_at_the_games_port(name: str) -> None:
    game = load(name)
    seats = game.seats(game.default_players)
    reserved = reserve(game, seats)
    reserved.release()
    hosts = {there.host for there in reserved.by_seat.values()}
    assert list(reserved.by_seat) == [seat.name for seat in seats]
    assert len(hosts) == len(seats)
    assert {there.port for there in reserved.by_seat.values()} == {game.port}
    assert len({host.rpartition(".")[0] for host in hosts}) == 1


def test_two_runs_at_once_do_not_meet_and_a_released_subnet_is_free_again() -> None:
    first, second = reserve(HEARTS, SEATS), reserve(HEARTS, SEATS)
    try:
        assert set(first.by_seat.values()).isdisjoint(second.by_seat.values())
        first.release()
        first = reserve(HEARTS, SEATS)
        assert set(first.by_seat.values()).isdisjoint(second.by_seat.values())
    finally:
        first.release()
        second.release()


@pytest.mark.parametrize("name", ["hearts", "connect4"])
def test_a_subnet_where_a_stray_process_has_the_port_is_left_alone(name: str) -> None:
    game = load(name)
    seats = game.seats(game.default_players)
    free = reserve(game, seats)
    there = free.by_seat[seats[-1].name]
    kind = socket.SOCK_DGRAM if game.transport == "udp" else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, kind) as stray:
        stray.bind(there)
        if kind is socket.SOCK_STREAM:
            stray.listen()
        free.release()
        again = reserve(game, seats)
        again.release()
    assert there not in again.by_seat.values()


def test_where_every_subnet_is_taken_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback, "SUBNETS", range(250, 252))
    taken = [reserve(HEARTS, SEATS) for _ in range(2)]
    try:
        with pytest.raises(NoAddressError, match="end other runs first"):
            reserve(HEARTS, SEATS)
    finally:
        for one in taken:
            one.release()


def test_too_many_machines_for_one_host_are_told() -> None:
    connect4 = load("connect4")
    with pytest.raises(NoAddressError, match="at most 200 machines here, not 401"):
        reserve(connect4, connect4.seats(400))


def test_a_host_with_one_loopback_address_tells_seats_apart_by_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback, "_has_many_addresses", lambda: False)
    reserved = reserve(HEARTS, SEATS)
    reserved.release()
    assert {there.host for there in reserved.by_seat.values()} == {"127.0.0.1"}
    assert len({there.port for there in reserved.by_seat.values()}) == 4
