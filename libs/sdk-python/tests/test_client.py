"""Tests of ``trainyard.client`` with a fake gateway."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable
from unittest import mock
from urllib.parse import parse_qs, urlsplit

from fake_platform import json_kind

from trainyard import client

MODEL = {
    "name": "iris",
    "labels": ["prod"],
    "metadata": {"task": "classify"},
    "aliases": {"champion": 3},
    "latestNumber": 3,
}
VERSION = {
    "model": "iris",
    "number": 3,
    "semanticVersion": "1.0.0",
    "aliases": ["champion"],
    "checkpoint": "c",
    "experiment": "1",
    "trial": "1.2",
    "run": 1,
    "stepsCompleted": 10,
    "metrics": {"loss": 0.25, "worst": "NaN"},
    "hyperparameters": {"lr": 0.1},
    "state": "REGISTERED",
}
FILES = {"weights.bin": b"w" * 5_000, "a/b.txt": b"b"}


def archive(files: dict[str, bytes], kind: bytes = tarfile.REGTYPE) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.type, info.size, info.linkname = kind, len(content), "/etc/passwd"
            if kind != tarfile.REGTYPE:
                info.size = 0
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def manifest(files: dict[str, bytes]) -> list[dict[str, Any]]:
    return [
        {"path": path, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for path, content in files.items()
    ]


class Gateway:
    """Answers each request with a status and an object or bytes, and keeps the requests."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Any, dict[str, list[str]], str | None]] = []
        self.if_match: str | None = None
        self.traceparents: list[str | None] = []
        # The header Retry-After of refusals.
        self.retry_after = ""
        self.answer: Callable[[str, str], tuple[int, Any]] = lambda method, path: (404, {})
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments: Any) -> None:
                """Logs nothing."""

            def _serve(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                parts = urlsplit(self.path)
                key = self.headers.get("idempotency-key")
                owner.if_match = self.headers.get("if-match")
                owner.traceparents.append(self.headers.get("traceparent"))
                owner.asked.append((self.command, parts.path, body, parse_qs(parts.query), key))
                status, value = owner.answer(self.command, parts.path)
                content = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                self.send_header("content-type", json_kind(status))
                self.send_header("content-length", str(len(content)))
                if status >= 400 and owner.retry_after:
                    self.send_header("retry-after", owner.retry_after)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.gateway = Gateway()
        self.addCleanup(self.gateway.stop)
        self.client = client.Client(self.gateway.url, "t", patience_s=5.0)
        self.addCleanup(self.client.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def serve(self, **paths: Any) -> None:
        """Sets the answers, by the last part of the path."""

        def answer(method: str, path: str) -> tuple[int, Any]:
            value = paths.get(path.rsplit("/", 1)[1].replace(":", "_"))
            if value is None:
                return 404, {"code": "model_not_found", "detail": "there is no model x"}
            return value if isinstance(value, tuple) else (200, value)

        self.gateway.answer = answer

    def test_get_version_by_alias_returns_the_version_and_its_lineage(self) -> None:
        self.serve(iris=MODEL, champion=VERSION)
        version = self.client.get_model("iris").get_version("champion")
        self.assertEqual((version.number, version.trial, version.run), (3, "1.2", 1))
        self.assertEqual(version.hyperparameters, {"lr": 0.1})
        self.assertEqual(version.metrics["loss"], 0.25)
        self.assertTrue(math.isnan(version.metrics["worst"]))

    def test_an_unknown_name_raises_not_found_error(self) -> None:
        self.serve()
        with self.assertRaisesRegex(client.NotFoundError, "there is no model x") as raised:
            self.client.get_model("x")
        self.assertEqual((raised.exception.status, raised.exception.code), (404, "model_not_found"))

    def test_a_name_is_encoded_as_one_segment_of_the_path(self) -> None:
        self.serve(**{"..%2Fx": MODEL})
        self.client.get_model("../x")
        self.assertEqual(self.gateway.asked[-1][1], "/api/v1/models/..%2Fx")
        for name in ("", ".", ".."):
            with self.assertRaises(ValueError):
                self.client.get_model(name)

    def test_a_list_requests_all_pages(self) -> None:
        pages = iter([{"items": [MODEL], "nextPageToken": "n"}, {"items": [MODEL]}])
        self.gateway.answer = lambda method, path: (200, next(pages))
        names = [model.name for model in self.client.list_models(labels=["a", "b"])]
        self.assertEqual(names, ["iris", "iris"])
        self.assertEqual(self.gateway.asked[0][3]["labels"], ["a", "b"])
        self.assertEqual(self.gateway.asked[1][3]["pageToken"], ["n"])

    def test_best_versions_sends_metric_order_and_conditions(self) -> None:
        self.serve(iris=MODEL, versions_best={"items": [VERSION]})
        [best] = self.client.get_model("iris").best_versions("loss", ["label=prod"], order="min")
        self.assertEqual(best.number, 3)
        query = {"metric": ["loss"], "order": ["min"], "limit": ["1"], "where": ["label=prod"]}
        self.assertEqual(self.gateway.asked[-1][3], query)

    def test_register_version_waits_for_the_checkpoint_and_retries_with_the_same_key(self) -> None:
        late = 409, {"code": "checkpoint_not_complete", "detail": "not complete"}
        answers = iter([late, (503, {}), (200, {"version": VERSION})])
        self.gateway.answer = lambda method, path: next(answers)
        version = self.client.register_version("iris", "c", create_model=True)
        self.assertEqual(version.number, 3)
        keys = [key for _, _, _, _, key in self.gateway.asked]
        self.assertEqual(len(set(keys)), 2)
        self.assertEqual(keys[1], keys[2])
        self.gateway.answer = lambda method, path: late
        with self.assertRaises(client.ApiError):
            self.client.register_version("iris", "c", wait_s=0)

    def test_register_version_waits_until_the_platform_knows_a_trials_checkpoint(self) -> None:
        unknown = 404, {"code": "checkpoint_not_found", "detail": "there is no checkpoint c"}
        answers = iter([unknown, (200, {"version": VERSION})])
        self.gateway.answer = lambda method, path: next(answers)
        with mock.patch.dict(os.environ, {"TRAINYARD_TRIAL_ID": "1.1"}):
            self.assertEqual(self.client.register_version("iris", "c").number, 3)
        self.gateway.answer = lambda method, path: unknown
        with self.assertRaises(client.NotFoundError):
            self.client.register_version("iris", "c")
        self.assertEqual(len(self.gateway.asked), 3)

    def test_move_alias_sends_the_version_and_the_reason(self) -> None:
        self.serve(iris=MODEL, champion={"version": VERSION})
        self.client.get_model("iris").move_alias("champion", 3, "lower loss")
        method, path, body, _, _ = self.gateway.asked[-1]
        self.assertEqual((method, path), ("PUT", "/api/v1/models/iris/aliases/champion"))
        self.assertEqual(body, {"version": "3", "reason": "lower loss"})

    def test_a_request_raises_platform_away_error_after_the_patience(self) -> None:
        self.gateway.answer = lambda method, path: (503, {"detail": "it is away"})
        away = client.Client(self.gateway.url, "t", patience_s=0.0)
        self.addCleanup(away.close)
        with self.assertRaisesRegex(client.PlatformAwayError, "it is away"):
            away.get_model("iris")

    def test_calls_and_downloads_are_in_the_trace_of_the_environment_if_it_names_a_valid_one(
        self,
    ) -> None:
        valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        self.serve(iris=MODEL, archive=archive(FILES))
        for given in (valid, "00-" + "0" * 32 + valid[35:], "mine\r\nx: y", ""):
            with mock.patch.dict(os.environ, {"TRACEPARENT": given}):
                self.client = client.Client(self.gateway.url, "t", patience_s=5.0)
            self.addCleanup(self.client.close)
            self.client.get_model("iris")
            with self.client._api.download("/archive") as body:
                body.read()
        self.assertEqual(self.gateway.traceparents, [valid] * 2 + [None] * 6)

    def test_a_download_waits_until_it_is_admitted(self) -> None:
        packed = archive(FILES)
        busy = 429, {"code": "too_many_streams", "detail": "one caller has at most 16 downloads"}
        answers = iter([busy, (503, {}), (200, packed)])
        self.gateway.answer = lambda method, path: next(answers)
        with self.client._api.download("/archive") as body:
            self.assertEqual(body.read(), packed)
        self.gateway.retry_after = "30"
        self.gateway.answer = lambda method, path: busy
        with (
            self.assertRaisesRegex(client.ApiError, "at most 16 downloads"),
            self.client._api.download("/archive"),
        ):
            pass

    def test_a_client_without_an_address_raises_and_names_the_variable(self) -> None:
        with self.assertRaisesRegex(ValueError, "TRAINYARD_URL"):
            client.Client("", "")

    def download(self, version: dict[str, Any], **paths: Any) -> Path:
        self.serve(**{"iris": MODEL, "champion": version, **paths})
        found = self.client.get_model("iris").get_version("champion")
        return found.download(self.folder / "out" / "iris")

    def test_a_download_has_the_files_the_code_and_the_records(self) -> None:
        code = archive({"train.py": b"print()"})
        version = {**VERSION, "codeDigest": hashlib.sha256(code).hexdigest()}
        checkpoint = {"manifest": manifest(FILES)}
        folder = self.download(version, c=checkpoint, archive=archive(FILES), code=code)
        for path, content in FILES.items():
            self.assertEqual((folder / "checkpoint" / path).read_bytes(), content)
        self.assertEqual((folder / "code" / "train.py").read_bytes(), b"print()")
        self.assertEqual(json.loads((folder / "version.json").read_text()), version)
        self.assertEqual(json.loads((folder / "checkpoint.json").read_text()), checkpoint)
        self.assertIn("load_trial_from_checkpoint_path", (folder / "README.md").read_text())
        self.assertEqual([one.name for one in folder.parent.iterdir()], ["iris"])

    def test_the_readmes_check_of_an_export_detects_changed_files(self) -> None:
        self.serve(
            champion=VERSION, iris=MODEL, c={"manifest": manifest(FILES)}, archive=archive(FILES)
        )
        version = self.client.get_model("iris").get_version("champion")
        folder = version.export(self.folder / "model")
        blocks = (folder / "README.md").read_text().split("```python\n")[1:]
        load, check = (block.split("```")[0] for block in blocks[1:])

        def run(block: str) -> None:
            subprocess.run(
                [sys.executable, "-c", block], cwd=folder, check=True, stderr=subprocess.DEVNULL
            )

        run(f"{load}\nassert hyperparameters == {{'lr': 0.1}} and len(files) == 2")
        run(check)
        (folder / "checkpoint" / "weights.bin").write_bytes(b"other")
        with self.assertRaises(subprocess.CalledProcessError):
            run(check)

    def test_a_downloaded_file_that_differs_from_the_record_is_named_and_removed(self) -> None:
        checkpoint = {"manifest": manifest(FILES)}
        whole = archive(FILES)
        cases = [
            (archive({**FILES, "weights.bin": b"v" * 5_000}), "'weights.bin' differs"),
            (archive({"a/b.txt": b"b"}), "'weights.bin' is missing"),
            (archive({**FILES, "more": b""}), "'more' is not in the checkpoint's manifest"),
            (archive({**FILES, "../out": b""}), "'../out' is not a file inside"),
            (archive({**FILES, "/tmp/x": b""}), "'/tmp/x' is not a file inside"),
            (archive({"link": b""}, tarfile.SYMTYPE), "'link' is not a file inside"),
            (whole[: len(whole) // 2], "broke off"),
            (b"nothing", "broke off"),
        ]
        for packed, why in cases:
            with self.subTest(why), self.assertRaisesRegex(client.DownloadError, why):
                self.download(VERSION, c=checkpoint, archive=packed)
            self.assertEqual(list((self.folder / "out").iterdir()), [])
        code = archive({"train.py": b""})
        with self.assertRaisesRegex(client.DownloadError, "the model code differs"):
            self.download(
                {**VERSION, "codeDigest": "0" * 64}, c=checkpoint, archive=whole, code=code
            )

    def test_a_download_never_replaces_a_folder_with_files(self) -> None:
        taken = self.folder / "out" / "iris"
        taken.mkdir(parents=True)
        (taken / "mine").write_text("mine")
        with self.assertRaises(FileExistsError):
            self.download(VERSION)
        self.assertEqual((taken / "mine").read_text(), "mine")


if __name__ == "__main__":
    unittest.main()
