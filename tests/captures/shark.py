"""Wireshark's own programs, asked about a file."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.tools import require_tool

if TYPE_CHECKING:
    from pathlib import Path

CHECKSUMS = ("-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE")
# tshark remarks upon root on stderr; nothing else may stand there.
ROOT_REMARK = 'Running as user "root" and group "root". This could be dangerous.'


def tshark(path: Path, *arguments: str) -> list[str]:
    """Return the lines tshark prints for a file that it opens without complaint."""
    command = [require_tool("tshark"), "-r", str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    remarks = [line for line in done.stderr.splitlines() if line and line != ROOT_REMARK]
    assert (done.returncode, remarks) == (0, [])
    return done.stdout.splitlines()


def fields(path: Path, *names: str) -> list[tuple[str, ...]]:
    """Return these fields of each frame."""
    wanted = [part for name in names for part in ("-e", name)]
    lines = tshark(path, *CHECKSUMS, "-T", "fields", "-E", "occurrence=a", *wanted)
    return [tuple(line.split("\t")) for line in lines]


def complaints(path: Path, *options: str) -> list[str]:
    """Return the frames that Wireshark warns of, or whose place in their connection it doubts.

    A handshake and a FIN are remarked upon too, at lower grades; that is no complaint.
    """
    return tshark(path, *options, "-Y", "_ws.expert.severity >= warning or tcp.analysis.flags")


def capinfos(path: Path) -> str:
    done = subprocess.run([require_tool("capinfos"), str(path)], capture_output=True, text=True, check=True)
    assert done.stderr.replace(ROOT_REMARK, "").strip() == ""
    return done.stdout
