"""A platform for tests with an object store: a second server that accepts only planned requests, compares the
content with the signed digest, and fails as the test requests.
"""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable
from urllib.parse import quote, unquote

from fake_platform import Answer, FakePlatform, Request, problem

PART_BYTES = 64 << 20

BAD_DIGEST = "bad digest"
"""The store's answer to content that was corrupted on the way."""


class StorePlatform(FakePlatform):
    """The gateway, and a store that keeps objects by key."""

    def __init__(self) -> None:
        self.address = "s3://b/p"
        self.objects: dict[str, bytes] = {}
        # Replaces the store's answer to a request for an object; None for the real answer.
        self.store_faults: Callable[[str, str], Any] = lambda method, key: None
        self.sent: list[str] = []
        # The number in the URLs of current plans; other URLs are refused as expired.
        self.expired = 0
        super().__init__()
        platform = self

        class Handler(_StoreHandler):
            owner = platform

        class Server(ThreadingHTTPServer):
            def handle_error(self, request: Any, client_address: Any) -> None:
                """Ignores errors: clients of these tests break connections on purpose."""

        self._store = Server(("127.0.0.1", 0), Handler)
        self._store.daemon_threads = True
        threading.Thread(target=self._store.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        super().stop()
        self._store.shutdown()
        self._store.server_close()

    def handle(self, request: Request) -> Answer:
        parts = [unquote(part) for part in request.path.split("/")[3:]]
        if parts[0] == "runs" and parts[2:3] == ["checkpoints"] and parts[4:] == ["upload"]:
            return self._plan_upload(parts[3], request.body["files"])
        if parts[0] == "runs" and parts[2:3] == ["checkpoints"] and parts[4:] == ["fail"]:
            self.checkpoints[parts[3]].update(state="FAILED", reason=request.body["reason"])
            return Answer(200, (), {"position": "7"})
        if parts[0] == "runs" and parts[2:] == ["tensorboard", "upload"]:
            return self._plan_tensorboard(**request.body)
        if parts[0] == "checkpoints" and parts[2:] == ["files"]:
            files = [
                {"path": path, "request": self._request("GET", parts[1], path)}
                for path in request.body["paths"]
            ]
            return Answer(200, (), {"files": files})
        return super().handle(request)

    def _declare(self, body: Any) -> Answer:
        if self.superseded:
            return problem(409, "run_superseded", "run 3 was requested")
        uuid = body["checkpoint"]
        begun = {**body, "state": "ACTIVE", "store": self.address, "named": []}
        kept = self.checkpoints.setdefault(uuid, begun)
        kept["named"].append(body.get("lastValidation", ""))
        return Answer(200, (), {"checkpoint": uuid, "store": self.address})

    def _plan_tensorboard(self, files: list[Any], beginnings: Sequence[Any] = ()) -> Answer:
        planned = []
        begun = {file["path"]: file["sha256"] for file in beginnings}
        for file in files:
            digest = base64.b64encode(bytes.fromhex(file["sha256"])).decode()
            there = self.objects.get(f"tensorboard/{file['path']}")
            is_there = there is not None and _sha256(there) == file["sha256"]
            request = self._request("PUT", "tensorboard", file["path"], digest)
            parts = [] if is_there else [{"bytes": file["bytes"], "request": request}]
            stored = 0
            # A file of an earlier run can replace only its own beginning.
            is_other = there is not None and not is_there
            if self.superseded and is_other and _sha256(there) != begun.get(file["path"]):
                parts, stored = [], len(there)
            planned.append({"path": file["path"], "parts": parts, "storedBytes": stored})
        return Answer(200, (), {"files": planned})

    def _plan_upload(self, uuid: str, files: list[Any]) -> Answer:
        if len(files) > 100:
            return problem(422, "invalid_manifest", "at most 100")
        planned = []
        for file in files:
            parts = []
            if f"{uuid}/{file['path']}" not in self.objects:
                digest = base64.b64encode(bytes.fromhex(file["sha256"])).decode()
                request = self._request("PUT", uuid, file["path"], digest)
                # Zeros are omitted, as in proto JSON.
                parts = [
                    {**({"bytes": file["bytes"]} if file["bytes"] else {}), "request": request}
                ]
            planned.append({"path": file["path"], "parts": parts})
        return Answer(200, (), {"files": planned})

    def _request(self, method: str, uuid: str, path: str, digest: str = "") -> Any:
        port = self._store.server_address[1]
        url = f"http://127.0.0.1:{port}/{quote(f'{uuid}/{path}')}?expires={self.expired}"
        return {"method": method, "url": url, "headers": {"x-digest": digest} if digest else {}}

    def _complete(self, uuid: str, manifest: list[Any]) -> Answer:
        if self.superseded:
            return problem(409, "run_superseded", "run 3 was requested")
        if self.checkpoints[uuid]["state"] == "FAILED":
            return problem(409, "checkpoint_failed", self.checkpoints[uuid]["reason"])
        for entry in manifest:
            content = self.objects.get(f"{uuid}/{entry['path']}")
            if content is None:
                return problem(503, "storage_unreadable", f"{entry['path']} was not sent yet")
            md5 = base64.b64encode(hashlib.md5(content).digest()).decode()
            # S3 verifies SHA-256 and Google Cloud Storage MD5. Hosts other than the chief's do not know the store
            # and send both.
            is_needed = not self.address.startswith("s3://")
            assert entry.get("md5", md5) == md5 and ("md5" in entry or not is_needed), entry
            assert hashlib.sha256(content).hexdigest() == entry["sha256"], entry
        self.checkpoints[uuid].update(state="COMPLETED", manifest=manifest)
        return Answer(200, (), {"position": "7"})

    def _plan(self, uuid: str) -> Answer:
        checkpoint = self.checkpoints.get(uuid)
        if checkpoint is None or checkpoint["state"] != "COMPLETED":
            return problem(404, "checkpoint_not_found", f"there is no complete checkpoint {uuid}")
        keys = ("checkpoint", "store", "manifest", "metadata")
        return Answer(200, (), {key: checkpoint[key] for key in keys if key in checkpoint})


_BAD_DIGEST = b"<Code>BadDigest</Code>"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class _StoreHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: StorePlatform

    def do_PUT(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        key = self._key()
        if self._fails("PUT", key):
            return
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        if digest != self.headers["x-digest"]:
            self._say(400, _BAD_DIGEST)
            return
        with self.owner.changed:
            self.owner.objects[key] = content
            self.owner.sent.append(key)
            self.owner.changed.notify_all()
        self._say(200, b"")

    def do_GET(self) -> None:
        key = self._key()
        if self._fails("GET", key):
            return
        content = self.owner.objects.get(key)
        self._say(404, b"<Code>NoSuchKey</Code>") if content is None else self._say(200, content)

    def _key(self) -> str:
        return unquote(self.path.split("?")[0][1:])

    def _fails(self, method: str, key: str) -> bool:
        if self.path.split("expires=")[1] != str(self.owner.expired):
            self._say(403, b"<Code>AccessDenied</Code><Message>Request has expired</Message>")
            return True
        fault = self.owner.store_faults(method, key)
        if fault is None:
            return False
        if isinstance(fault, int):
            self._say(fault, b"<Code>SlowDown</Code>")
        elif fault == BAD_DIGEST:
            self._say(400, _BAD_DIGEST)
        else:
            self.close_connection = True
            self.connection.close()
        return True

    def _say(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing."""
