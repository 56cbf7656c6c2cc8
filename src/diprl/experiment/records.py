"""Records: one JSON line per finished run, in a file that only grows and never holds one run twice.

A record is written once. What is learnt about a run later, such as its score on another machine's environment, is a
line of its own that `amends` it; reading joins the two.
"""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock

from diprl.errors import DiprlError
from diprl.system.files import check_writable, open_regular, read_bytes

Record = dict[str, Any]

RECORDS, LOCK = "records.jsonl", ".records.lock"
LARGEST = 200_000_000
"""Bytes of records that are read at all."""


class Store:
    """The records of a folder; any number of processes may read and append at the same time."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / RECORDS

    def append(self, record: Record) -> bool:
        """Add a record, durably, unless one with its key is there; tells whether it was added."""
        return self.extend([record]) == 1

    def extend(self, records: Sequence[Record]) -> int:
        """Add those records whose keys are new; tells how many there were."""
        check_writable(self.folder)
        with FileLock(self.folder / LOCK), open_regular(self.path, os.O_RDWR | os.O_CREAT) as file:
            content = file.read()
            file.truncate(file.seek(content.rfind(b"\n") + 1))  # a crash may have left half a line
            known = {record["key"] for record in parse_lines(content, self.path)}
            fresh = {record["key"]: record for record in records if record["key"] not in known}
            file.write(b"".join(to_line(record) for record in fresh.values()))
            file.flush()
            os.fsync(file.fileno())
        return len(fresh)

    def lines(self) -> list[Record]:
        """Every complete line as it was written."""
        return list(parse_lines(read_bytes(self.path, LARGEST), self.path)) if self.path.exists() else []

    def read(self) -> dict[str, Record]:
        """The records by key, amendments applied."""
        lines = self.lines()
        records = {line["key"]: line for line in lines if "amends" not in line}
        for line in lines:
            if line.get("amends") in records:
                records[line["amends"]] |= line["values"]
        return records


def to_line(record: Record) -> bytes:
    return json.dumps(finite(record), ensure_ascii=False, allow_nan=False).encode() + b"\n"


def finite(value: Any) -> Any:
    """The value in strict JSON: a number that is not finite becomes null."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)


def parse_lines(content: bytes, path: Path) -> Iterator[Record]:
    """The complete lines; the piece after the last newline is a write that a crash cut short."""
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        try:
            record = json.loads(line)
            record["key"]
        except (ValueError, RecursionError, KeyError, TypeError) as error:
            raise DiprlError(f"{path}, line {number}: not a record; remove the line to go on") from error
        yield record


def amendment(key: str, kind: str, values: Record) -> Record:
    """A line that adds or replaces fields of a record."""
    return {"key": f"{key}#{kind}", "amends": key, "values": values}
