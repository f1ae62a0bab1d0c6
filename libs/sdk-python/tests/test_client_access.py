"""Tests of how ``trainyard.client`` finds the cluster, and of the file of ``login``."""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from test_client import Gateway

from trainyard import client
from trainyard.client._access import find_access
from trainyard.client._logins import logins_file, read_logins


class AccessTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.environment = {"XDG_CONFIG_HOME": str(self.folder / "config")}
        # The package's own checkout may have a running cluster.
        outside = mock.patch("trainyard.client._access.__file__", str(self.folder / "client.py"))
        outside.start()
        self.addCleanup(outside.stop)

    def home(self, path: str, api: str) -> Path:
        home = self.folder / path
        home.mkdir(parents=True)
        (home / "cluster.json").write_text(json.dumps({"api": api}))
        (home / "token").write_text(f"token of {api}\n")
        return home

    def logins(self, current: str, mode: int = 0o600, **urls: str) -> Path:
        path = logins_file(self.environment)
        path.parent.mkdir(parents=True, exist_ok=True)
        clusters = {name: {"url": url, "token": f"token of {url}"} for name, url in urls.items()}
        path.write_text(json.dumps({"current": current, "clusters": clusters}))
        path.chmod(mode)
        return path

    def found(self, url: str = "", token: str = "", cluster: str = "", **more: str) -> list[str]:
        folder = self.folder / "work" / "notebooks"
        return list(find_access(url, token, cluster, {**self.environment, **more}, folder))

    def test_the_cluster_of_the_checkout_above_the_folder_is_found(self) -> None:
        with self.assertRaisesRegex(ValueError, "no cluster is named and none runs here"):
            self.found()
        self.home("work/.trainyard", "http://l:1")
        self.assertEqual(self.found(), ["http://l:1", "token of http://l:1"])
        (self.folder / "work" / ".trainyard" / "cluster.json").unlink()
        with self.assertRaises(ValueError):
            self.found()

    def test_the_first_of_variables_home_current_login_and_checkout_counts(self) -> None:
        self.home("work/.trainyard", "http://l:1")
        self.logins("b", a="http://a:1", b="http://b:1")
        home = str(self.home("home", "http://h:1"))
        self.assertEqual(self.found()[0], "http://b:1")
        self.assertEqual(self.found(TRAINYARD_HOME=home)[0], "http://h:1")
        both = {"TRAINYARD_HOME": home, "TRAINYARD_CLUSTER": "a"}
        self.assertEqual(self.found(**both), ["http://a:1", "token of http://a:1"])
        named = {**both, "TRAINYARD_URL": "http://e:1", "TRAINYARD_TOKEN": "e"}
        self.assertEqual(self.found(**named), ["http://e:1", "e"])
        self.assertEqual(self.found(cluster="b", **named)[0], "http://b:1")
        self.assertEqual(self.found("http://x:1", "x", **named), ["http://x:1", "x"])
        with self.assertRaisesRegex(ValueError, "no login with the name 'c'"):
            self.found(cluster="c")

    def test_a_token_is_sent_only_to_the_address_that_it_belongs_to(self) -> None:
        self.home("work/.trainyard", "http://l:1")
        self.logins("a", a="http://a:1")
        self.assertEqual(self.found("http://a:1/"), ["http://a:1/", "token of http://a:1"])
        self.assertEqual(self.found(TRAINYARD_URL="http://l:1")[1], "token of http://l:1")
        with self.assertRaisesRegex(ValueError, "no token for http://evil:1"):
            self.found("http://evil:1")

    def test_a_file_that_others_can_read_or_that_is_damaged_is_refused(self) -> None:
        path = self.logins("a", mode=0o644, a="http://a:1")
        with self.assertRaisesRegex(ValueError, f"chmod 600 {path}"):
            self.found()
        path.chmod(0o600)
        path.write_text('{"clusters": 7}')
        with self.assertRaisesRegex(ValueError, "is damaged"):
            self.found()

    def test_login_stores_a_cluster_that_takes_the_token_and_logout_forgets_it(self) -> None:
        gateway = Gateway()
        self.addCleanup(gateway.stop)
        answer = (401, {"code": "unauthenticated", "detail": "invalid token"})
        gateway.answer = lambda method, path: answer
        with mock.patch.dict(os.environ, self.environment):
            # A cluster that the tests' own environment names would win over a login.
            for name in ("TRAINYARD_HOME", "TRAINYARD_URL", "TRAINYARD_TOKEN"):
                os.environ.pop(name, None)
            with self.assertRaisesRegex(client.ApiError, "invalid token"):
                client.login(gateway.url, "secret")
            with self.assertRaisesRegex(ValueError, "begins with http://"):
                client.login("ftp://a", "secret")
            self.assertFalse(logins_file(self.environment).exists())
            answer = (200, {})
            self.assertEqual(client.login(gateway.url, "secret"), gateway.url[7:])
            self.assertEqual(client.login(f"{gateway.url}/", "other", name="lab"), "lab")
            path = logins_file(self.environment)
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            known = read_logins(self.environment)
            self.assertEqual(
                (known.current, sorted(known.clusters)), ("lab", [gateway.url[7:], "lab"])
            )
            self.assertEqual(client.Client()._api.token, "other")
            self.assertNotIn("other", repr(known))
            client.logout()
            self.assertEqual(read_logins(self.environment).current, "")
            with self.assertRaises(ValueError):
                client.logout("lab")


if __name__ == "__main__":
    unittest.main()
