"""The sender passes the cases of report-cases.json, as the agent's sender does."""

from __future__ import annotations

import json
import re
import time
import unittest
from pathlib import Path

from fake_platform import RESET, Answer, json_kind
from test_sender import RUN, SenderCase

from trainyard import _spool

CASES = json.loads((Path(__file__).parent / "report-cases.json").read_text("utf-8"))["cases"]


class ReportCases(SenderCase):
    def pass_case(self, case):
        entries = spool_of(case["spool"])
        self.spool.path.write_bytes(b"".join(entries))
        if "acked" in case:
            acked = case["acked"]
            text = acked if isinstance(acked, str) else str(size_of(entries[:acked]))
            (self.folder / _spool.ACKED).write_text(text)
        times = []

        def answer(request):
            times.append(time.monotonic())
            known = case["requests"][request.number : request.number + 1]
            return answer_of(known[0]) if known else Answer(500)

        self.platform.faults = answer
        is_refused, settled = case.get("refused", False), case.get("settled", len(entries))
        is_whole = settled == len(entries)
        # An incomplete line is never acknowledged, so the wait for it ends by its timeout.
        is_delivered = self.open().flush(20 if is_whole or is_refused else 1)
        self.assertEqual(is_delivered, is_whole)
        self.assertEqual(
            [
                [int(one["key"][2:]) for one in sent.body["reports"]]
                for sent in self.platform.requests
            ],
            [numbers_of(one["sent"]) for one in case["requests"]],
        )
        self.assert_form(self.platform.requests)
        for number, one in enumerate(case["requests"]):
            if "afterMs" in one:
                waited_ms = (times[number] - times[number - 1]) * 1000
                self.assertGreaterEqual(waited_ms, one["afterMs"])
        self.assertEqual(self.acked(), size_of(entries[:settled]))

    def assert_form(self, requests):
        written = self.expected()
        for method, path, _, body, _ in requests:
            self.assertEqual(
                (method, path), ("POST", f"/api/v1/runs/{RUN}/reports".replace("#", "%23"))
            )
            self.assertEqual(set(body), {"refuseAlone", "reports"})
            self.assertIs(body["refuseAlone"], True)
            for report in body["reports"]:
                self.assertEqual(report, written[report["key"]])
        self.assertEqual(self.platform.bad_tokens, 0)


def spool_of(entries):
    """Returns the bytes of each entry of a case's spool."""
    written, number = [], 0
    for entry in entries:
        if isinstance(entry, str):
            written.append(entry.encode() + b"\n")
        elif "hex" in entry:
            written.append(bytes.fromhex(entry["hex"]) + b"\n")
        elif "torn" in entry:
            written.append(entry["torn"].encode())
        else:
            lines = []
            for _ in range(entry["reports"]):
                number += 1
                metrics = {"text": "x" * entry["bytes"]} if "bytes" in entry else {"loss": 0.5}
                report = {"key": f"0-{number}", "group": "training", "stepsCompleted": number}
                lines.append(json.dumps({**report, "atMs": 1, "metrics": metrics}) + "\n")
            written.append("".join(lines).encode())
    return written


def size_of(entries):
    return sum(len(entry) for entry in entries)


def numbers_of(sent):
    first, _, last = sent.partition("-")
    return list(range(int(first), int(last or first) + 1))


def answer_of(request):
    answer = request.get("answer", {"status": 200})
    if answer is None:
        return RESET
    names = {"retryAfter": "Retry-After", "location": "Location"}
    headers = [(names[key], answer[key]) for key in names if key in answer]
    kind = answer.get("type", json_kind(answer["status"]))
    return Answer(answer["status"], (*headers, ("Content-Type", kind)), answer.get("body"))


def test_of(case):
    return lambda self: self.pass_case(case)


for one in CASES:
    setattr(ReportCases, "test_" + re.sub(r"\W+", "_", one["name"]), test_of(one))


if __name__ == "__main__":
    unittest.main()
