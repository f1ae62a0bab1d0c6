"""A platform for tests: a real HTTP server that keeps its requests and fails as the test requests.

``faults`` is called before a request is handled and may answer it, so that a test can define a failure in one
line. The fake gives the platform's guarantees: reports are deduplicated by key, and a checkpoint is completed only
when its files match the manifest.
"""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "ty1.k1.run-token"
LOG = "00000000-0000-7000-8000-000000000001"

RESET = "reset"
"""Closes the connection with a reset before the request is handled."""
LOSE_ANSWER = "lose answer"
"""Handles the request, then closes the connection without an answer."""
HANG = "hang"
"""Does not answer until the platform is stopped."""


class Answer(NamedTuple):
    """An answer that replaces the handling of the request."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: Any = None


class Request(NamedTuple):
    """A request, as ``faults`` gets it."""

    method: str
    path: str
    query: dict[str, list[str]]
    body: Any
    number: int


class FakePlatform:
    """A gateway and a metrics service at one address."""

    def __init__(self, storage: Path | None = None) -> None:
        self.storage = storage
        self.faults: Callable[[Request], Any] = lambda request: None
        self.changed = threading.Condition()
        self.requests: list[Request] = []
        self.bad_tokens = 0
        self.connections = 0
        # The reports in the order of their first arrival, and the number of arrivals of each key.
        self.reports: dict[str, Any] = {}
        self.deliveries: dict[str, int] = {}
        self.batches: list[int] = []
        self.checkpoints: dict[str, Any] = {}
        # The reports of damaged checkpoints: the checkpoint and the damage.
        self.damages: list[tuple[str, str]] = []
        self.stop_why: str | None = None
        # Whether a later run of the trial was requested, so that this run can declare and complete nothing.
        self.superseded = False
        self.log = LOG
        self._stopped = threading.Event()
        self._server: ThreadingHTTPServer | None = None
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Starts listening, on the same port as before after a stop."""
        platform = self

        class Handler(_Handler):
            owner = platform

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 64

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Ignores errors: clients of these tests break connections on purpose."""

        self._stopped = threading.Event()
        self._server = Server(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Stops listening, and drops the connections that wait for an answer."""
        if self._server is not None:
            self._stopped.set()
            with self.changed:
                self.changed.notify_all()
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def ask_to_stop(self, why: str) -> None:
        with self.changed:
            self.stop_why = why
            self.changed.notify_all()

    def withdraw_stop(self) -> None:
        with self.changed:
            self.stop_why = None
            self.changed.notify_all()

    def wait_for(self, claim: Callable[[], bool], timeout_s: float = 120.0) -> None:
        """Waits until a claim about this platform is true."""
        with self.changed:
            if not self.changed.wait_for(claim, timeout_s):
                raise AssertionError(
                    f"the claim is still false after {timeout_s} s; {len(self.requests)} requests"
                )

    def wait_until_stopped(self) -> None:
        self._stopped.wait(60)

    def values(self, group: str, metric: str) -> list[Any]:
        return [r["metrics"][metric] for r in self.reports.values() if r["group"] == group]

    def env(self, run_dir: Path, **more: str) -> dict[str, str]:
        """The environment that the agent sets for a run of trial 12.3."""
        return {
            "TRAINYARD_URL": self.url,
            "TRAINYARD_METRICS_URL": self.url,
            "TRAINYARD_TOKEN": TOKEN,
            "TRAINYARD_LOG": LOG,
            "TRAINYARD_EXPERIMENT_ID": "12",
            "TRAINYARD_TRIAL_ID": "12.3",
            "TRAINYARD_RUN": "2",
            "TRAINYARD_TRIAL_SEED": "4294967295",
            "TRAINYARD_HPARAMS": '{"lr":0.1,"model":{"depth":3}}',
            "TRAINYARD_CONFIG": '{"name":"test"}',
            "TRAINYARD_LATEST_CHECKPOINT": "",
            "TRAINYARD_STEPS_COMPLETED": "0",
            "TRAINYARD_SLOT_IDS": "0,1",
            "TRAINYARD_NODE_RANK": "0",
            "TRAINYARD_NNODES": "1",
            "TRAINYARD_MASTER_ADDR": "127.0.0.1",
            "TRAINYARD_MASTER_PORT": "29500",
            "TRAINYARD_RUN_DIR": str(run_dir),
            "TRAINYARD_CHECKPOINT_ROOT": str(self.storage or ""),
            **more,
        }

    def handle(self, request: Request) -> Answer:
        parts = [unquote(part) for part in request.path.split("/")[3:]]
        if parts[0] == "runs" and parts[1] != "12.3#2":
            return problem(404, "run_not_found", f"there is no run {parts[1]}")
        if parts[0] == "runs" and parts[2:] == ["reports"]:
            return self._take_reports(request.body["reports"])
        if parts[0] == "runs" and parts[2:] == ["signals"]:
            return self._hold_signals(int(request.query["wait_ms"][0]) / 1000)
        if parts[0] == "runs" and parts[2:] == ["checkpoints"]:
            return self._declare(request.body)
        if parts[0] == "runs" and parts[2] == "checkpoints" and parts[4] == "ahead":
            return Answer(200, (), {"files": len(request.body["paths"])})
        if parts[0] == "runs" and parts[2] == "checkpoints" and parts[4] == "complete":
            return self._complete(parts[3], request.body["manifest"])
        if parts[0] == "runs" and parts[2] == "checkpoints" and parts[4] == "damaged":
            self.damages.append((parts[3], request.body["detail"]))
            return Answer(200, (), {"done": True, "damaged": True})
        if parts[0] == "checkpoints" and parts[2] == "plan":
            return self._plan(parts[1])
        if parts == ["version"]:
            return Answer(200, (), {"version": "0", "api": "v1", "log": self.log})
        return problem(404, "not_found", request.path)

    def _take_reports(self, reports: list[Any]) -> Answer:
        if len(reports) > 1000:
            return problem(413, "too_large", "at most 1,000 reports")
        self.batches.append(len(reports))
        for report in reports:
            key = report["key"]
            if key in self.reports and self.reports[key] != report:
                return problem(422, "key_reused", key)
            self.reports.setdefault(key, report)
            self.deliveries[key] = self.deliveries.get(key, 0) + 1
        return Answer(200, (), {"accepted": len(reports)})

    def _hold_signals(self, wait_s: float) -> Answer:
        self.changed.wait_for(lambda: self.stop_why is not None or self._stopped.is_set(), wait_s)
        if self.stop_why is None:
            return Answer(200, (), {})
        return Answer(200, (), {"stop": True, "why": self.stop_why})

    def _declare(self, body: Any) -> Answer:
        assert self.storage is not None
        if self.superseded:
            return problem(409, "run_superseded", "run 3 was requested")
        uuid = body["checkpoint"]
        path = str(self.storage / uuid)
        kept = self.checkpoints.setdefault(uuid, {**body, "state": "ACTIVE", "path": path})
        if "storageId" in body:
            kept.setdefault("storageId", body["storageId"])
        return Answer(200, (), {"checkpoint": uuid, "path": path})

    def _complete(self, uuid: str, manifest: list[Any]) -> Answer:
        checkpoint = self.checkpoints.get(uuid)
        if checkpoint is None:
            return problem(404, "checkpoint_not_found", uuid)
        if self.superseded:
            return problem(409, "run_superseded", "run 3 was requested")
        folder = Path(checkpoint["path"])
        found = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
        if found != {entry["path"] for entry in manifest}:
            return problem(409, "checkpoint_incomplete", f"{found}")
        for entry in manifest:
            content = (folder / entry["path"]).read_bytes()
            if (len(content), hashlib.sha256(content).hexdigest()) != (
                entry["bytes"],
                entry["sha256"],
            ):
                return problem(409, "checkpoint_incomplete", entry["path"])
        checkpoint.update(state="COMPLETED", manifest=manifest)
        return Answer(200, (), {"position": "7"})

    def _plan(self, uuid: str) -> Answer:
        checkpoint = self.checkpoints.get(uuid)
        if checkpoint is None or checkpoint["state"] != "COMPLETED":
            return problem(404, "checkpoint_not_found", f"there is no complete checkpoint {uuid}")
        keys = ("checkpoint", "path", "manifest", "metadata", "storageId")
        return Answer(200, (), {key: checkpoint[key] for key in keys if key in checkpoint})


def problem(status: int, code: str, detail: str, **headers: str) -> Answer:
    """Returns a problem+json answer."""
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Answer(status, named, {"code": code, "title": code, "detail": detail})


def json_kind(status: int) -> str:
    """Returns the content type of an answer of the platform."""
    return "application/json" if status < 300 else "application/problem+json"


def of_a_proxy(status: int) -> Answer:
    """Returns an answer that does not come from the platform, for example of a proxy without a backend."""
    return Answer(status, (("Content-Type", "text/html"),), {"detail": "no backend"})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: FakePlatform

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.owner.changed:
            self.owner.connections += 1

    def do_GET(self) -> None:
        self._serve(None)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        if len(raw) > 4 * 1024 * 1024:
            self._answer(problem(413, "too_large", "at most 4 MiB"))
            return
        self._serve(json.loads(raw))

    def _serve(self, body: Any) -> None:
        platform = self.owner
        url = urlsplit(self.path)
        with platform.changed:
            number = len(platform.requests)
            request = Request(self.command, url.path, parse_qs(url.query), body, number)
            platform.requests.append(request)
            platform.changed.notify_all()
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                platform.bad_tokens += 1
            fault = platform.faults(request)
            answer = fault if isinstance(fault, Answer) else None
            if answer is None and fault not in (RESET, HANG):
                answer = platform.handle(request)
            platform.changed.notify_all()
        if fault == HANG:
            platform.wait_until_stopped()
        if fault in (RESET, LOSE_ANSWER, HANG) or platform._stopped.is_set() or answer is None:
            self._reset()
        else:
            self._answer(answer)

    def _answer(self, answer: Answer) -> None:
        content = json.dumps(answer.body or {}).encode()
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        if not any(name.lower() == "content-type" for name, _ in answer.headers):
            self.send_header("Content-Type", json_kind(answer.status))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _reset(self) -> None:
        # With a linger time of zero, closing sends a reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing."""


def wait_until(claim: Callable[[], bool], timeout_s: float = 120.0) -> None:
    """Polls until a claim is true that no condition announces."""
    deadline = time.monotonic() + timeout_s
    while not claim():
        if time.monotonic() > deadline:
            raise AssertionError(f"the claim is still false after {timeout_s} s")
        time.sleep(0.005)
