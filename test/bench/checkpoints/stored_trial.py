"""Stores and reads checkpoints as a trial does, in turn with other tools on the same files.

The settings are JSON in BENCH, written by transfers.ts. The program prints one line,
``BENCH`` and JSON: for each measured task, the seconds of each round of Trainyard and of the other
tool. The first round of each task does not count.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import trainyard

SETTINGS: dict[str, Any] = json.loads(os.environ["BENCH"])
FOLDER = Path(SETTINGS["folder"])
SOURCE = FOLDER / "source"
NAMES = [f"part-{index:04}.bin" for index in range(SETTINGS["files"])]
BYTES = SETTINGS["bytes"] // SETTINGS["files"]


def write(name: str, mark: int) -> None:
    """Write a durable file of zeros, as a discarding server returns, or of a mark and zeros."""
    with open(SOURCE / name, "wb") as file:
        file.write(mark.to_bytes(8, "big"))
        zeros = bytes(min(BYTES, 1 << 20))
        left = BYTES - 8
        while left > 0:
            left -= file.write(zeros[:left])
        file.flush()
        os.fsync(file.fileno())


class Peer:
    """boto3 in a process of its own."""

    def __init__(self, python: str) -> None:
        program = Path(SETTINGS["scripts"]) / "boto3_peer.py"
        self._process = subprocess.Popen(
            [python, str(program), SETTINGS["url"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, what: str, folder: Path) -> float:
        """Send or fetch the files; return the seconds that it took."""
        assert self._process.stdin is not None and self._process.stdout is not None
        order = {"what": what, "folder": str(folder), "names": NAMES}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())


class Measure:
    """The rounds of one trial."""

    def __init__(self, ctx: Any, peer: Peer | None) -> None:
        self._ctx = ctx
        self._peer = peer
        self._steps = 0
        self.seconds: dict[str, dict[str, list[float]]] = {}

    def note(self, what: str, who: str, seconds: float) -> None:
        """Record and print the duration of a round."""
        self.seconds.setdefault(what, {}).setdefault(who, []).append(seconds)
        print(f"{what}, {who}: {seconds:.3f} s", flush=True)

    def _settled(self, uuid: str) -> None:
        """Waits until the platform has completed a checkpoint."""
        store = self._ctx.checkpoint._store  # noqa: SLF001 — no call says that it is complete
        sender = getattr(store, "_sender", None)
        while sender is not None and sender.pending(uuid) is not None:
            time.sleep(0.005)
        self._ctx.checkpoint.get_metadata(uuid)

    def _store(self) -> tuple[str, float]:
        """Store the source's files in place, as a script that writes into the folder does."""
        self._steps += 1
        began = time.perf_counter()
        with self._ctx.checkpoint.store_path({"steps_completed": self._steps}) as (path, uuid):
            for name in NAMES:
                os.link(SOURCE / name, path / name)
        self._settled(uuid)
        return uuid, time.perf_counter() - began

    def directory(self) -> None:
        """Compare a completed checkpoint with a durable copy."""
        self._steps += 1
        began = time.perf_counter()
        uuid = self._ctx.checkpoint.upload(SOURCE, {"steps_completed": self._steps})
        self._settled(uuid)
        self.note("upload", "ours", time.perf_counter() - began)
        with self._ctx.checkpoint.restore_path(uuid) as path:
            shutil.rmtree(path)
        copy = FOLDER / "copy"
        copy.mkdir()
        began = time.perf_counter()
        for name in NAMES:
            subprocess.run(["cp", str(SOURCE / name), str(copy / name)], check=True)
            with open(copy / name, "rb") as file:
                os.fsync(file.fileno())
        self.note("upload", "theirs", time.perf_counter() - began)
        shutil.rmtree(copy)

    def objects(self) -> None:
        """Compare storing in an object store and reading back with boto3."""
        uuid, seconds = self._store()
        self.note("upload", "ours", seconds)
        if self._peer is not None:
            self.note("upload", "theirs", self._peer.seconds("upload", SOURCE))
        began = time.perf_counter()
        with self._ctx.checkpoint.restore_path(uuid) as path:
            seconds = time.perf_counter() - began
            shutil.rmtree(path)
        self.note("download", "ours", seconds)
        if self._peer is None:
            return
        copy = FOLDER / "copy"
        copy.mkdir()
        self.note("download", "theirs", self._peer.seconds("download", copy))
        shutil.rmtree(copy)

    def changed(self, round_: int) -> None:
        """Compare a second checkpoint, in which one file in a hundred changed, with the first."""
        for name in NAMES:
            write(name, 2 * round_ + 1)
        self.note("second", "theirs", self._store()[1])
        for name in NAMES[:: max(len(NAMES) // SETTINGS["changed"], 1)]:
            write(name, 2 * round_ + 2)
        self.note("second", "ours", self._store()[1])


def main() -> None:
    SOURCE.mkdir(parents=True)
    for name in NAMES:
        write(name, 0)
    # Only object stores are compared with boto3.
    python = SETTINGS["boto3"] if SETTINGS["what"] == "objects" else ""
    with trainyard.init() as ctx:
        measure = Measure(ctx, Peer(python) if python else None)
        for round_ in range(SETTINGS["rounds"] + 1):
            if SETTINGS["what"] == "directory":
                measure.directory()
            elif SETTINGS["what"] == "objects":
                measure.objects()
            else:
                measure.changed(round_)
        print(f"BENCH {json.dumps(measure.seconds)}", flush=True)


main()
