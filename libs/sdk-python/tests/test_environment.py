"""The packages of a run are reported once, and no failure reaches the script."""

from __future__ import annotations

import json
import unittest
from unittest import mock

from fake_platform import RESET, TOKEN, Answer
from test_sender import RUN, SenderCase

from trainyard import _environment


class Environment(SenderCase):
    def tell(self):
        with (
            mock.patch.object(_environment, "ENVIRONMENT_FIRST_S", 0.0),
            mock.patch.object(_environment, "ENVIRONMENT_BACKOFF_FIRST_S", 0.01),
            mock.patch.object(_environment, "ENVIRONMENT_BACKOFF_MAX_S", 0.02),
        ):
            _environment.tell_environment(self.platform.url, RUN, TOKEN).join(60)

    def asked(self):
        return [one for one in self.platform.requests if one.path.endswith("/environment")]

    def test_the_reported_packages_are_those_that_python_imports(self):
        self.tell()
        (request,) = self.asked()
        self.assertEqual(
            (request.method, request.path), ("POST", "/api/v1/runs/12.3%232/environment")
        )
        body = request.body
        body = json.loads(body) if isinstance(body, (bytes, str)) else body
        self.assertRegex(body["python"], r"^3\.\d+\.")
        self.assertEqual(body["packages"], _environment.packages())
        self.assertIn("pip", body["packages"])

    def test_the_report_is_retried_for_a_limited_time_while_the_platform_is_unavailable(self):
        with mock.patch.object(self.platform, "handle", side_effect=lambda _: Answer(503)):
            self.tell()
        self.assertEqual(len(self.asked()), 8)

    def test_a_failed_report_raises_nothing_in_the_script(self):
        for answer in (RESET, Answer(404), Answer(500)):
            with mock.patch.object(self.platform, "handle", side_effect=lambda _, a=answer: a):
                self.tell()


if __name__ == "__main__":
    unittest.main()
