"""A gateway for the tests of searches: one custom search, whose trials behave as the test defines.

It keeps the events, deduplicates operations by id like the platform, and fails as the test requests.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable
from urllib.parse import parse_qs, urlsplit

from fake_platform import json_kind

Event = dict[str, Any]


class Refusal(Exception):
    def __init__(self, code: str, index: int, status: int = 409) -> None:
        super().__init__(code)
        self.body = {
            "status": status,
            "code": code,
            "detail": f"operation {index} cannot be",
            "errors": [{"path": f"operations[{index}]", "detail": code}],
        }


class FakeSearch:
    """``happens`` is called after every post and adds the trials' next events."""

    def __init__(self, happens: Callable[[FakeSearch], None] = lambda search: None) -> None:
        self.happens = happens
        # Replaces the answer to a post: by a status or "lose answer"; None for the real answer.
        self.fault: Callable[[int], Any] = lambda post: None
        self.stream_breaks_after: int | None = None
        self.events: list[Event] = []
        self.changed = threading.Condition()
        self.posts = 0
        self.created: list[Mapping[str, Any]] = []
        self.keys: list[str] = []
        self.canceled = False
        self._operations: dict[str, dict[str, Any]] = {}
        self.trials = 0
        self.ended: set = set()
        owner = self

        class Handler(_Handler):
            search = owner

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Ignores errors: clients of these tests are killed on purpose."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.tell("SearchStarted", metric="loss", smallerIsBetter=True, seed=7, space={})

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        with self.changed:
            self.changed.notify_all()

    def tell(self, name: str, **data: Any) -> None:
        with self.changed:
            version = len(self.events) + 1
            kind = f"dev.trainyard.search.{name}.v1"
            self.events.append({"type": kind, "streamversion": str(version), "data": data})
            self.changed.notify_all()

    def validate(self, trial: int, time: float, loss: float) -> None:
        self.tell("ObservationRecorded", trial=trial, time=time, values={"loss": loss})

    def end(self, trial: int, outcome: str = "COMPLETED") -> None:
        self.ended.add(trial)
        self.tell("TrialOutcomeRecorded", trial=trial, outcome=f"TRIAL_OUTCOME_{outcome}")

    def complete(self, reason: str = "EXHAUSTED", **best: Any) -> None:
        self.tell("SearchCompleted", reason=f"SEARCH_COMPLETION_{reason}", **best)

    @property
    def operations(self) -> list[Mapping[str, Any]]:
        """All posted operations, in order."""
        return [
            operation
            for event in self.events
            if ".OperationsPosted." in event["type"]
            for operation in event["data"]["operations"]
        ]

    def post(self, operations: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
        new = [one for one in operations if one["id"] not in self._operations]
        for index, one in enumerate(operations):
            trial = next((one[kind]["trial"] for kind in ("stop", "resume") if kind in one), 0)
            if one in new and trial in self.ended:
                raise Refusal("trial_ended", index)
        if new:
            self.tell("OperationsPosted", operations=new)
        for one in new:
            trial = 0
            if "propose" in one:
                self.trials += 1
                trial = self.trials
                hyperparameters = one["propose"].get("hyperparameters", {})
                evidence = {"operation": one["id"]}
                self.tell(
                    "TrialProposed",
                    number=trial,
                    hyperparameters=hyperparameters,
                    evidence=evidence,
                )
            self._operations[one["id"]] = {"id": one["id"], "trial": trial, "version": 1}
        if new:
            self.happens(self)
        return [self._operations[one["id"]] for one in operations]


class _Handler(BaseHTTPRequestHandler):
    search: FakeSearch
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        """Logs nothing."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if not parts.path.endswith("/search/events"):
            self._answer(200, {"id": "1", "searcher": "custom"})
            return
        query = parse_qs(parts.query)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        self.wfile.write(b": trainyard\n\n")
        self._stream(int(query.get("after", ["0"])[0]), "noFollow" in query)

    def _stream(self, after: int, once: bool) -> None:
        search = self.search
        sent = 0
        while True:
            with search.changed:
                if not once:
                    search.changed.wait_for(lambda: len(search.events) > after, 10)
                events = search.events[after:]
            for event in events:
                if search.stream_breaks_after == sent:
                    search.stream_breaks_after = None
                    return
                after, sent = int(event["streamversion"]), sent + 1
                text = json.dumps(event)
                self.wfile.write(f"id: {after}\ndata: {text}\n\n".encode())
                self.wfile.flush()
                if ".SearchCompleted." in event["type"]:
                    once = True
            if once:
                self.wfile.write(b"event: end\ndata: {}\n\n")
                return

    def do_POST(self) -> None:
        search = self.search
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/cancel"):
            search.canceled = True
            search.complete("CANCELED")
            self._answer(200, {})
        elif self.path.endswith("/experiments"):
            search.created.append(body)
            search.keys.append(str(self.headers["idempotency-key"]))
            self._answer(200, {"experiment": {"id": "1"}, "warnings": []})
        else:
            self._operations(body)

    def _operations(self, body: Any) -> None:
        search = self.search
        search.posts += 1
        fault = search.fault(search.posts)
        if isinstance(fault, int):
            self._answer(fault, {"status": fault, "code": "unavailable", "detail": "not now"})
            return
        try:
            answer: Any = {"position": "1", "results": search.post(body["operations"])}
            status = 200
        except Refusal as refusal:
            status, answer = refusal.body["status"], refusal.body
        if fault == "lose answer":
            self.close_connection = True
            return
        self._answer(status, answer)

    def _answer(self, status: int, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", json_kind(status))
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
