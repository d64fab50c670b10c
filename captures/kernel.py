"""Frames from the kernel: a packet socket that lets only a run's links through.

The loopback shows every frame twice, going out and coming in. The filter keeps the second, and of
those only the address pairs that belong to a link, so that foreign traffic costs nothing.
"""

from __future__ import annotations

import array
import errno
import socket
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EXIT_NOT_PERMITTED = 77  # EX_NOPERM of sysexits.h

# A frame of 60 bytes occupies about 800 in the queue: this holds some 80,000 of them.
RECEIVE_BUFFER_BYTES = 64 * 1024 * 1024
FRAME_MAX = 65_536 + 64  # the loopback's MTU and a link header

# Numbers of Linux that Python's socket module does not name.
_SO_ATTACH_FILTER = 26
_SO_RCVBUFFORCE = 33
_SO_TIMESTAMPNS = 35
_SOL_PACKET = 263
_PACKET_STATISTICS = 6
_PACKET_OUTGOING = 4
_ETH_P_ALL = 3
_ETH_P_IP = 0x0800
_ETH_P_IPV6 = 0x86DD
_ARPHRD_ETHER = 1
_ARPHRD_LOOPBACK = 772

# A pair takes about 160 bytes of net.core.optmem_max, which older kernels set to 20 KiB.
PAIRS_MAX = 64
_LOAD_WORD, _LOAD_HALF = 0x20, 0x28  # ld [k], ldh [k]
_JUMP_IF_EQUAL = 0x15
_RETURN = 0x06
_PACKET_TYPE = 0xFFFFF000 + 4  # SKF_AD_OFF + SKF_AD_PKTTYPE
_ETHERTYPE, _IP_SRC, _IP_DST = 12, 26, 30

Instruction = tuple[int, int, int, int]


class NotPermitted(Exception):
    """The kernel gives this process no packet socket; the shells must record themselves."""


class BadInterface(Exception):
    """There is no such interface, it is down, or it has no Ethernet frames."""


class Frame(NamedTuple):
    time_ns: int
    data: bytes


class Tap:
    """A packet socket on one interface. From its making on, no frame of the pairs goes by unseen."""

    def __init__(self, interface: str, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        if not hasattr(socket, "AF_PACKET"):
            raise NotPermitted("This system has no packet sockets: only Linux records from the kernel.")
        try:
            # Protocol 0: deaf until bind(), by when the filter is in place.
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        except PermissionError:
            raise NotPermitted(
                "Recording from the kernel needs CAP_NET_RAW (root has it), and this process lacks it."
            ) from None
        except OSError as error:
            raise NotPermitted(f"The kernel gives no packet socket: {error.strerror}.") from None
        try:
            self._open(interface, pairs)
        except BaseException:
            self._socket.close()
            raise

    def _open(self, interface: str, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        tap = self._socket
        tap.setblocking(False)
        tap.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        try:
            tap.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES)
        except PermissionError:  # CAP_NET_RAW alone: as much as net.core.rmem_max grants
            tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
        code = array.array("B", b"".join(struct.pack("=HBBI", *line) for line in filter_for(pairs)))
        address, size = code.buffer_info()
        tap.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("@HP", size // 8, address))
        try:
            tap.bind((interface, _ETH_P_ALL))
        except OSError as error:
            if error.errno == errno.ENODEV:
                raise BadInterface(
                    f"There is no interface {interface!r} here; `ip link` lists those there are."
                ) from None
            raise BadInterface(f"Interface {interface!r} cannot be recorded: {error.strerror}.") from None
        kind = tap.getsockname()[3]
        if kind not in (_ARPHRD_ETHER, _ARPHRD_LOOPBACK):
            raise BadInterface(
                f"Interface {interface!r} carries no Ethernet frames (its type is {kind}); "
                "choose a loopback, a veth or a bridge."
            )

    def fileno(self) -> int:
        return self._socket.fileno()

    def frames(self, at_most: int) -> Iterator[Frame]:
        """Yield the frames that wait, until there are none."""
        receive = self._socket.recvmsg
        space = socket.CMSG_SPACE(struct.calcsize("@ll"))
        for _ in range(at_most):
            try:
                data, ancillary, _flags, _sender = receive(FRAME_MAX, space)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno == errno.ENETDOWN:  # told once when the interface goes down; it may come back
                    continue
                raise
            ((_level, _kind, stamp),) = ancillary
            seconds, nanoseconds = struct.unpack("@ll", stamp)
            yield Frame(seconds * 1_000_000_000 + nanoseconds, data)

    def dropped(self) -> int:
        """Return how many frames found no room since the last call."""
        raw = self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
        _seen, drops = struct.unpack("=II", raw)
        return int(drops)

    def close(self) -> None:
        self._socket.close()


def filter_for(pairs: Sequence[tuple[bytes, bytes]]) -> list[Instruction]:
    """Return a classic BPF program that passes incoming frames of these address pairs.

    It may pass more, never less: all of IPv6 where one pair is IPv6, and all of IPv4 where the
    pairs are too many for a program. The recorder looks again.
    """
    v4 = [(src, dst) for src, dst in pairs if len(src) == 4]
    take: Instruction = (_RETURN, 0, 0, 0xFFFFFFFF)
    leave: Instruction = (_RETURN, 0, 0, 0)
    program = [
        (_LOAD_WORD, 0, 0, _PACKET_TYPE),
        (_JUMP_IF_EQUAL, 0, 1, _PACKET_OUTGOING),
        leave,
        (_LOAD_HALF, 0, 0, _ETHERTYPE),
        (_JUMP_IF_EQUAL, 0, 1, _ETH_P_IPV6),
        take if len(v4) < len(pairs) else leave,
        (_JUMP_IF_EQUAL, 1, 0, _ETH_P_IP),
        leave,
    ]
    if len(v4) > PAIRS_MAX:
        return [*program, take]
    for src, dst in v4:
        program += [
            (_LOAD_WORD, 0, 0, _IP_SRC),
            (_JUMP_IF_EQUAL, 0, 3, int.from_bytes(src, "big")),
            (_LOAD_WORD, 0, 0, _IP_DST),
            (_JUMP_IF_EQUAL, 0, 1, int.from_bytes(dst, "big")),
            take,
        ]
    return [*program, leave]
