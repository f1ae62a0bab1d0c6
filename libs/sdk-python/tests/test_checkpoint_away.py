"""Training does not wait for the platform to complete a checkpoint, and no checkpoint is lost."""

from __future__ import annotations

import json
import os
import time
import unittest
from unittest import mock

from fake_platform import HANG, RESET, Answer, of_a_proxy, problem, wait_until
from stopwatch import Stopwatch
from test_checkpoint import CheckpointCase

import trainyard
from trainyard._checkpoint import CheckpointContext, _sender, _store
from trainyard._checkpoint._sender import CheckpointSender


class Away(CheckpointCase):
    def timed_store(self, **files):
        watch = Stopwatch()
        return self.store(**files), watch.seconds()

    def assert_all_completed(self, uuids):
        self.platform.wait_for(lambda: set(uuids) <= set(self.completed()))
        # Each checkpoint was declared once, in the order of storing.
        self.assertEqual(list(self.platform.checkpoints), uuids)
        wait_until(lambda: self.left() == [])
        for number, uuid in enumerate(uuids):
            with self.checkpoint.restore_path(uuid) as path:
                self.assertEqual((path / "a").read_text(), str(number))

    def test_checkpoints_stored_while_the_platform_is_down_are_completed_later(self):
        self.platform.stop()
        stored = [self.timed_store(a=str(n)) for n in range(5)]
        # The first store may wait, because the outage may be very short; after it the outage is known.
        self.assertLess(stored[0][1], 3.0)
        self.assertLess(max(took_s for _, took_s in stored[1:]), 0.5)
        self.assertEqual(self.left(), sorted(f"{uuid}.json" for uuid, _ in stored))
        self.platform.start()
        self.assert_all_completed([uuid for uuid, _ in stored])
        # Nothing was wrong with the training: a short outage is no warning.
        self.assertEqual(self.log, [])

    def test_a_long_outage_is_one_warning_without_paths(self):
        self.platform.stop()
        with mock.patch.object(_sender, "CHECKPOINT_AWAY_NOTICE_S", _sender.CHECKPOINT_WAIT_S):
            uuid = self.store(a="0")
            wait_until(lambda: len(self.log) > 0)
            self.platform.start()
            self.assert_all_completed([uuid])
            wait_until(lambda: len(self.log) > 1)
        said, again = self.log
        self.assertIn("nothing is lost", said)
        self.assertIn("training continues", said)
        self.assertIn("accepts checkpoints again", again)
        self.assertNotIn(str(self.storage), said)

    def test_storing_is_fast_while_earlier_checkpoints_are_still_delivered(self):
        self.platform.stop()
        uuids = [self.store(a=str(n)) for n in range(8)]

        def slow(request):
            time.sleep(0.1)

        self.platform.faults = slow
        self.platform.start()
        self.platform.wait_for(lambda: len(self.completed()) > 0)
        uuid, took_s = self.timed_store(a="8")
        self.assertLess(took_s, 0.5)
        self.assert_all_completed([*uuids, uuid])

    def test_an_answer_of_a_proxy_neither_refuses_nor_completes_a_checkpoint(self):
        for path in ("/checkpoints", "/complete"):
            script = [of_a_proxy(status) for status in (401, 404, 302, 200)]

            def faults(request, path=path, script=script):
                return script.pop() if script and request.path.endswith(path) else None

            self.platform.faults = faults
            with mock.patch.object(_store, "CHECKPOINT_BACKOFF_FIRST_S", 0.01):
                uuid = self.store(a="1")
            self.platform.wait_for(lambda uuid=uuid: uuid in self.completed())
            self.assertEqual(script, [])

    def test_a_refusal_that_is_not_about_the_checkpoint_neither_ends_the_script_nor_drops_the_record(
        self,
    ):
        refusals = [
            (401, "token_unknown"),
            (403, "not_your_run"),
            (404, "run_not_found"),
            (404, "not_found"),
            (400, "invalid_request"),
        ]
        for status, code in refusals:
            for path in ("/checkpoints", "/complete"):
                refusal = problem(status, code, "because")
                self.platform.faults = lambda request, refusal=refusal, path=path: (
                    refusal if request.path.endswith(path) else None
                )
                with mock.patch.object(_sender, "CHECKPOINT_WAIT_S", 0.05):
                    uuid = self.store(a="1")
                # On a busy machine the refusal arrives after the store has stopped waiting.
                wait_until(lambda: any("because" in line for line in self.log))
                self.assertEqual(self.left(), [f"{uuid}.json"])
                self.platform.faults = lambda request: None
                self.platform.wait_for(lambda uuid=uuid: uuid in self.completed())
                wait_until(lambda: self.left() == [])

    def test_a_run_whose_history_is_lost_keeps_its_checkpoints_and_asks_once_for_each(self):
        lost = problem(410, "history_lost", "this run's history is lost: the log went back")
        self.platform.faults = lambda request: lost
        uuids = [self.store(a=str(n)) for n in range(3)]
        wait_until(lambda: len(self.platform.requests) >= 3)
        self.assertEqual(self.left(), sorted(f"{uuid}.json" for uuid in uuids))
        asked = [r for r in self.platform.requests if r.path.endswith("/checkpoints")]
        self.assertEqual(len(asked), 3)
        said = [line for line in self.log if "history is lost" in line]
        self.assertEqual(len(said), 1, self.log)

    def test_a_complete_checkpoint_keeps_its_record_as_stored(self):
        uuid = self.store(a="1")
        wait_until(lambda: self.left() == [])
        record = json.loads((self.checkpoint_spool.stored / f"{uuid}.json").read_text())
        self.assertEqual(record["checkpoint"], uuid)
        self.assertEqual(record["manifest"], self.platform.checkpoints[uuid]["manifest"])

    def test_checkpoints_stored_while_the_platform_does_not_answer_are_completed_later(self):
        self.platform.faults = lambda request: HANG
        stored = [self.timed_store(a=str(n)) for n in range(4)]
        self.assertLess(stored[0][1], 3.0)
        self.assertLess(max(took_s for _, took_s in stored[1:]), 0.5)
        self.platform.stop()
        self.platform.faults = lambda request: None
        self.platform.start()
        self.assert_all_completed([uuid for uuid, _ in stored])

    def test_checkpoints_stored_while_the_registry_is_unavailable_are_completed_later(self):
        self.platform.faults = lambda request: problem(503, "unavailable", "x", Retry_After="1")
        stored = [self.timed_store(a=str(n)) for n in range(3)]
        self.assertLess(sum(took_s for _, took_s in stored), 4.0)
        self.platform.faults = lambda request: None
        self.assert_all_completed([uuid for uuid, _ in stored])

    def test_a_checkpoint_that_waits_for_the_platform_can_be_read(self):
        self.platform.stop()
        uuid = self.store(a="1")
        with self.checkpoint.restore_path(uuid) as path:
            self.assertEqual((path / "a").read_text(), "1")
        self.checkpoint.download(uuid, self.folder / "copy")
        self.assertEqual(self.checkpoint.get_metadata(uuid), {"steps_completed": 1})

    def test_a_late_refusal_is_logged_once_and_the_files_stay(self):
        self.platform.stop()
        uuid = self.store(a="1")
        self.platform.superseded = True
        self.platform.start()
        wait_until(lambda: self.left() == [])
        wait_until(lambda: any("run 3 was requested" in line for line in self.log))
        said = [line for line in self.log if "run 3 was requested" in line]
        self.assertEqual(len(said), 1)
        self.assertIn(f"its files stay in {self.storage / uuid}", said[0])
        with self.assertRaisesRegex(trainyard.RunSupersededError, "its files stay in"):
            self.store(a="2")
        # The files were complete: only the platform knows whether they are still needed.
        self.assertEqual((self.storage / uuid / "a").read_text(), "1")
        self.assertEqual(len(self.folders()), 2)

    def test_a_checkpoint_completed_before_the_run_was_superseded_stays(self):
        def faults(request):
            if request.path.endswith("/complete") and not self.platform.superseded:
                self.platform.handle(request)
                self.platform.superseded = True
                return RESET
            return None

        self.platform.faults = faults
        uuid = self.store(a="1")
        self.assertEqual(self.completed(), [uuid])
        self.assertTrue((self.storage / uuid / "a").exists())
        self.assertEqual(self.left(), [])

    def test_a_checkpoint_that_an_internal_error_blocks_is_left_to_the_agent(self):
        first = []

        def faults(request):
            if request.method == "POST" and request.body.get("checkpoint") in first:
                return Answer(500)
            return None

        self.platform.faults = lambda request: Answer(500)
        with mock.patch.object(_sender, "CHECKPOINT_DEFECT_S", 0.3):
            first.append(self.store(a="1"))
            self.platform.faults = faults
            second = self.store(a="2")
            self.platform.wait_for(lambda: self.completed() == [second])
        self.assertEqual(self.left(), [f"{first[0]}.json"])

    def test_a_root_that_differs_from_the_platforms_does_not_end_the_script(self):
        self.platform.storage = self.folder / "elsewhere"
        uuid = self.store(a="1")
        self.assertEqual(self.left(), [f"{uuid}.json"])
        wait_until(lambda: any("the platform stores it in" in line for line in self.log))
        self.assertEqual(self.folders(), [uuid])
        self.platform.storage = self.storage
        self.platform.checkpoints.clear()
        self.platform.wait_for(lambda: self.completed() == [uuid])

    def test_a_storage_that_differs_from_the_platforms_does_not_end_the_script(self):
        """The text ``why`` is the registry's answer if its host does not see the storage."""
        why = "the registry service cannot do this now: /c is not the same storage here"

        def faults(request):
            if request.path.endswith("/complete"):
                return problem(503, "unavailable", why)
            return None

        self.platform.faults = faults
        stored = [self.timed_store(a=str(n)) for n in range(3)]
        self.assertLess(max(took_s for _, took_s in stored[1:]), 0.5)
        self.assertTrue(any("not the same storage" in line for line in self.log), self.log)
        self.platform.faults = lambda request: None
        self.assert_all_completed([uuid for uuid, _ in stored])

    def test_a_checkpoint_in_an_unknown_storage_delays_no_later_one(self):
        """The text ``why`` is the registry's answer after a share was not mounted for a while."""
        why = "no checkpoint is stored: /c is storage 1 here, and its checkpoints are in storage 2"
        waiting: list[str] = []

        def faults(request):
            is_waiting = request.path.endswith("/checkpoints") and (
                not waiting or request.body["checkpoint"] in waiting
            )
            return problem(425, "storage_not_known", why) if is_waiting else None

        self.platform.faults = faults
        waiting.append(self.store(a="0"))
        later = [self.store(a=str(n)) for n in (1, 2)]
        self.platform.wait_for(lambda: self.completed() == later)
        self.assertTrue(any("is storage 1 here" in line for line in self.log), self.log)
        waiting[0] = ""
        self.platform.wait_for(lambda: len(self.completed()) == 3)

    def test_several_checkpoints_in_an_unknown_storage_delay_a_later_one_by_one_wait_together(self):
        waits: list[int] = []
        wait = CheckpointSender._wait_to_retry

        def counted(sender, record, answer):
            waits.append(1)
            wait(sender, record, answer)

        waiting: list[str] = []
        known: list[str] = []
        between: list[int] = []

        def faults(request):
            if request.path.endswith("/checkpoints"):
                uuid = request.body["checkpoint"]
                if len(waiting) < 4 or uuid in waiting:
                    known.append(uuid)
                    return problem(425, "storage_not_known", "in another storage")
                between.append(len(waits))
            return None

        short = mock.patch.object(_sender.Backoff, "next_s", return_value=0.2)
        with mock.patch.object(CheckpointSender, "_wait_to_retry", counted), short:
            self.platform.faults = faults
            for n in range(4):
                waiting.append(self.store(a=str(n)))
            wait_until(lambda: set(known) == set(waiting))
            before = len(waits)
            good = self.store(a="4")
            self.platform.wait_for(lambda: self.completed() == [good])
            self.assertLessEqual(between[0] - before, 1)
            waiting[:] = [""] * 4
            self.platform.wait_for(lambda: len(self.completed()) == 5)

    def test_a_checkpoint_of_a_run_that_the_platform_does_not_know_yet_keeps_its_place(self):
        is_unheard = True

        def faults(request):
            if is_unheard and request.path.endswith("/checkpoints"):
                return problem(425, "run_unheard", "the grant is not read yet")
            return None

        self.platform.faults = faults
        uuids = [self.store(a=str(n)) for n in range(3)]
        is_unheard = False
        self.assert_all_completed(uuids)

    def test_storing_raises_if_the_platform_names_no_folder(self):
        def faults(request):
            return Answer(200, (), {}) if request.path.endswith("/checkpoints") else None

        self.platform.faults = faults
        with self.assertRaisesRegex(trainyard.CheckpointError, "gave no folder"):
            self.store(a="1")
        self.assertEqual((self.left(), len(self.folders())), ([], 1))

    def test_close_leaves_undelivered_checkpoints_to_the_agent(self):
        self.platform.stop()
        store = self.open_store()
        self.checkpoint = CheckpointContext(store)
        uuid = self.store(a="1")
        started = Stopwatch()
        store.close(5.0)
        self.assertLess(started.seconds(), 1.5)
        self.assertEqual(self.left(), [f"{uuid}.json"])
        record = json.loads((self.checkpoint_spool.folder / f"{uuid}.json").read_text())
        self.assertEqual(
            set(record),
            {"sealedMs", "checkpoint", "stepsCompleted", "metadata", "manifest", "storageId"},
        )
        with self.assertRaisesRegex(RuntimeError, "closed"):
            self.store(a="2")

    def test_a_forked_child_delivers_its_checkpoints(self):
        self.store(a="parent")
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                self.store(a="child")
                code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(len(self.completed()), 2)


if __name__ == "__main__":
    unittest.main()
