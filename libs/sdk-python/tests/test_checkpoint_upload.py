"""Checkpoints in an object store: sealed in the run's folder, uploaded by a separate process, read back."""

import random
import threading
import time
from unittest import mock

from fake_platform import TOKEN, problem
from fake_store import BAD_DIGEST, StorePlatform
from test_checkpoint import CheckpointCase, tree
from test_sender import RUN

from trainyard import _storage, errors
from trainyard._checkpoint import (
    CheckpointContext,
    _hash_lane,
    _parts,
    _room,
    _sender,
    _store,
    _upload_process,
    _uploader,
)
from trainyard._checkpoint._sender import CheckpointSender
from trainyard._checkpoint._spooled_store import SpooledStore


class UploadCase(CheckpointCase):
    def setUp(self):
        super().setUp()
        self.platform.stop()
        self.platform = StorePlatform()
        self.addCleanup(self.platform.stop)
        self.remote = _store.RemoteStore(self.platform.url, RUN, TOKEN, self.folder / "restored")
        self.checkpoint = CheckpointContext(self.open_store())

    def open_store(self):
        spool, root = self.checkpoint_spool, self.storage
        sender = CheckpointSender(spool, root, self.platform.url, RUN, TOKEN, uploads=True)
        store = SpooledStore(self.remote, spool, sender)
        self.addCleanup(store.close, 0.0)
        self.sender = sender
        return store

    def wait_until_complete(self, *uuids):
        self.platform.wait_for(lambda: sorted(self.completed()) == sorted(uuids))
        deadline = time.monotonic() + 120
        while self.left() or self.folders():
            self.assertLess(time.monotonic(), deadline)


class Uploading(UploadCase):
    def test_a_checkpoint_is_uploaded_and_read_back_unchanged(self):
        source = self.make_source()
        uuid = self.checkpoint.upload(source, {"steps_completed": 7})
        self.wait_until_complete(uuid)
        self.assertEqual(len(self.platform.sent), 5)
        self.checkpoint.download(uuid, self.folder / "copy")
        self.assertEqual(tree(self.folder / "copy"), tree(source))
        with self.checkpoint.restore_path(uuid) as path:
            self.assertEqual(tree(path), tree(source))
        self.assertEqual(self.checkpoint.get_metadata(uuid)["steps_completed"], 7)

    def test_a_store_that_verifies_md5_gets_the_md5(self):
        self.platform.address = "gs://b/p"
        uuid = self.store(weights="1")
        self.wait_until_complete(uuid)

    def test_files_hashed_by_a_thread_are_uploaded_and_read_back(self):
        from unittest import mock

        with mock.patch.object(_hash_lane, "HASH_LANE_BYTES_MIN", 0):
            uuid = self.store(weights="1" * 3_000_000, empty="")
            self.wait_until_complete(uuid)
            with self.checkpoint.restore_path(uuid) as path:
                self.assertEqual((path / "weights").read_text(), "1" * 3_000_000)

    def test_sealing_refuses_a_checkpoint_whose_part_digests_exceed_the_manifest_limit(self):
        with mock.patch.object(_storage, "UPLOAD_PART_BYTES", 10):
            # The digest of a part needs 67 bytes.
            with mock.patch.object(_storage, "UPLOAD_MANIFEST_BYTES_MAX", 1_000):
                self.wait_until_complete(self.store(weights="1" * 60))
                with self.assertRaisesRegex(ValueError, "at most 1,000 can be stored, about 850"):
                    self.store(weights="1" * 900)
        self.assertEqual(self.folders(), [])
        self.assertEqual(self.left(), [])

    def test_a_checkpoint_with_more_files_than_one_plan_is_uploaded(self):
        uuid = self.store(**{f"f{number}": str(number) for number in range(230)})
        self.wait_until_complete(uuid)
        self.assertEqual(len(self.platform.sent), 231)
        with self.checkpoint.restore_path(uuid) as path:
            self.assertEqual((path / "f229").read_text(), "229")

    def test_only_parts_that_the_store_failed_to_accept_are_sent_again(self):
        draw = random.Random(3)
        faults = [500, 503, 403, "reset"]
        failed = []

        def fault(method, key):
            if method == "PUT" and faults and draw.random() < 0.7:
                failed.append(key)
                return faults.pop()
            return None

        self.platform.store_faults = fault
        uuid = self.store(**{f"f{number}": str(number) for number in range(20)})
        self.wait_until_complete(uuid)
        self.assertEqual(len(failed), 4)
        self.assertEqual(len(self.platform.sent), len(set(self.platform.sent)))

    def test_an_expired_plan_is_replaced_by_a_new_one(self):
        def fault(method, key):
            self.platform.expired = 1
            self.platform.store_faults = lambda method, key: None
            return 403

        self.platform.store_faults = fault
        self.wait_until_complete(self.store(a="1", b="2"))

    def test_files_hashed_while_sealing_are_not_hashed_again_for_s3(self):
        sizes = {}
        with mock.patch.object(_parts, "UPLOAD_PART_BYTES", 1_000):
            self.platform.faults = lambda request: (
                sizes.update(
                    {
                        file["path"]: len(file["partSha256"])
                        for file in request.body["files"]
                        if "partSha256" in file
                    }
                )
                if request.path.endswith("/upload")
                else None
            )
            self.wait_until_complete(self.store(weights="1" * 2_500, small="1"))
        # The uploader, a separate process, would have used parts of 64 MiB.
        self.assertEqual(sizes, {"weights": 3})

    def test_no_md5_is_computed_for_s3(self):
        uuid = self.store(a="1")
        self.wait_until_complete(uuid)
        manifest = self.platform.checkpoints[uuid]["manifest"]
        self.assertEqual([entry for entry in manifest if "md5" in entry], [])

    def test_an_upload_waits_for_copies_inside_the_store(self):
        copying = [problem(503, "being_copied", "soon") for _ in range(3)]

        def fault(request):
            return copying.pop() if request.path.endswith("/upload") and copying else None

        self.platform.faults = fault
        self.wait_until_complete(self.store(weights="1"))
        # One program declared the checkpoint and read the files once.
        asked = [request.path.split("/")[-1] for request in self.platform.requests]
        self.assertEqual(asked.count("checkpoints"), 1)
        # Three requests were refused, and the plan of the fourth was executed.
        self.assertEqual(asked.count("upload"), 4)

    def test_a_long_upload_requests_several_plans(self):
        def slow(method, key):
            time.sleep(0.1)

        self.platform.store_faults = slow
        uuid = "00000000-0000-4000-8000-00000000000f"
        folder = self.storage / uuid
        folder.mkdir()
        for number in range(40):
            (folder / f"f{number}").write_text(str(number))
        manifest = [entry.message() for entry in _storage.seal(folder)]
        order = _uploader.Order(self.platform.url, TOKEN, RUN, uuid, folder, manifest)
        with mock.patch.object(_uploader, "UPLOAD_PLAN_S", 0.15):
            _uploader.Uploader(order).upload()
        # Eight parts are sent at a time: five rounds of 0.1 s take longer than one plan lasts.
        self.assertGreater(len(self.platform.requests), 2)
        self.assertEqual(len(self.platform.sent), len(set(self.platform.sent)))

    def test_training_continues_while_the_store_is_unavailable(self):
        self.platform.store_faults = lambda method, key: 503
        first = self.store(a="1")
        second = self.store(a="2")
        self.assertEqual(self.completed(), [])
        self.assertEqual(len(self.left()), 2)
        # A sealed file is read from its local folder.
        with self.checkpoint.restore_path(first) as path:
            self.platform.store_faults = lambda method, key: None
            self.platform.wait_for(lambda: sorted(self.completed()) == sorted([first, second]))
            while self.left():
                time.sleep(0.01)
            # The file was uploaded meanwhile, but is still being read.
            self.assertEqual((path / "a").read_text(), "1")
        while self.folders() != [first]:
            time.sleep(0.01)
        self.sender.close(0.0)
        self.assertEqual(self.folders(), [])

    def test_an_unreadable_folder_does_not_block_later_checkpoints(self):
        self.platform.faults = lambda request: problem(503, "away", "it restarts")
        first = self.store(a="1")
        file = self.storage / first / "a"
        file.unlink()
        file.mkdir()
        with mock.patch.object(_sender, "CHECKPOINT_TURN_S", 0.2):
            self.platform.faults = lambda request: None
            second, third = self.store(a="2"), self.store(a="3")
            self.platform.wait_for(lambda: self.completed() == [second, third], 30)
            file.rmdir()
            file.write_text("1")
            self.wait_until_complete(first, second, third)
        # The checkpoints were declared in their order.
        self.assertEqual(list(self.platform.checkpoints), [first, second, third])

    def test_files_of_a_pending_checkpoint_are_read_once(self):
        self.platform.store_faults = lambda method, key: 503 if key.endswith("/b") else None
        uuid = self.store(a="1", b="2")
        self.platform.wait_for(lambda: len(self.platform.sent) == 2)
        attempts = [0]

        def fault(request):
            attempts[0] += request.path.endswith("/checkpoints")

        self.platform.faults = fault
        self.platform.wait_for(lambda: attempts[0] > 0)
        # The file was uploaded, so nothing reads it again.
        (self.storage / uuid / "a").write_text("x")
        self.platform.store_faults = lambda method, key: None
        self.wait_until_complete(uuid)

    def test_a_file_that_was_truncated_after_it_was_hashed_is_refused_by_name(self):
        self.platform.store_faults = lambda method, key: 503
        uuid = self.store(weights="0123456789")
        attempts = [0]

        def fault(request):
            attempts[0] += request.path.endswith("/checkpoints")

        self.platform.faults = fault
        self.platform.wait_for(lambda: attempts[0] > 1)
        (self.storage / uuid / "weights").write_text("0123")
        self.platform.store_faults = lambda method, key: None
        self.wait_for_log(f"{uuid}/weights has changed since the checkpoint was stored")
        self.assertEqual(self.completed(), [])

    def test_a_slow_upload_is_not_logged_as_an_outage(self):
        taken = threading.Event()

        def slow(method, key):
            taken.wait(120)

        self.platform.store_faults = slow
        with mock.patch.object(_sender, "CHECKPOINT_WAIT_S", 0.05):
            uuid = self.store(weights="1")
            # The first call returned before the store had a byte, and so does the second.
            second = self.store(weights="2")
            self.platform.wait_for(lambda: uuid in self.platform.checkpoints)
            time.sleep(0.2)
            self.assertEqual(self.completed(), [])
            taken.set()
            self.wait_until_complete(uuid, second)
        self.assertEqual([line for line in self.log if "has not confirmed" in line], [])

    def test_storing_waits_while_sealed_checkpoints_fill_their_share_of_the_disk(self):
        taken = threading.Event()
        self.platform.store_faults = lambda method, key: taken.wait(120) and None
        weights = "x" * 300_000
        # The share of the disk is 1 MB: two of these checkpoints fit, a third does not.
        sealed = self.storage

        def used():
            return sum(file.stat().st_size for file in sealed.rglob("*") if file.is_file())

        with mock.patch.object(_room, "free_bytes", lambda folder: 1_000_000 - used()):
            self.sender._room.share = 0.7
            uuids = [self.store(weights=weights), self.store(weights=weights)]
            third = threading.Thread(target=lambda: uuids.append(self.store(weights=weights)))
            third.start()
            self.wait_for_log("waits for earlier uploads: 1 MB of sealed checkpoints")
            self.assertEqual(len(uuids), 2)
            self.assertLess(used(), 700_000)
            taken.set()
            third.join(120)
            self.wait_until_complete(*uuids)
        self.assertIn("70% of the free disk (TRAINYARD_CHECKPOINT_DISK_SHARE)", " ".join(self.log))

    def test_one_checkpoint_is_sealed_even_if_the_disk_seems_full(self):
        with mock.patch.object(_room, "free_bytes", lambda folder: 0):
            self.wait_until_complete(self.store(weights="1"))

    def test_an_outage_and_a_refusal_are_logged(self):
        self.platform.faults = lambda request: problem(503, "away", "it restarts")
        with mock.patch.object(_sender, "CHECKPOINT_WAIT_S", 0.05):
            uuid = self.store(weights="1")
            self.wait_for_log(f"has not confirmed checkpoint {uuid} yet (it restarts)")
            self.platform.faults = lambda request: None
            self.platform.superseded = True
            self.wait_for_log("run 3 was requested")
        self.assertEqual(len([line for line in self.log if "has not confirmed" in line]), 1)

    def test_a_hanging_upload_is_killed_and_retried(self):
        hang = threading.Event()
        self.addCleanup(hang.set)
        hung = []

        def fault(method, key):
            if not hung:
                hung.append(key)
                hang.wait(120)

        self.platform.store_faults = fault
        with mock.patch.object(_upload_process, "UPLOAD_SILENCE_S", 1.0):
            uuid = self.store(weights="1")
            self.wait_until_complete(uuid)
        self.assertEqual(len(hung), 1)

    def test_a_sealed_file_that_changed_is_refused_by_name(self):
        # S3 verifies the sent content; for Google's stores the uploader reads the file first.
        for address in ("s3://b/p", "gs://b/p"):
            with self.subTest(address):
                self.platform.address = address
                self.refuse_changed("weights has changed since the checkpoint was stored")

    def test_a_corrupted_transfer_is_repeated_since_the_sealed_file_is_unchanged(self):
        for address in ("s3://b/p", "gs://b/p"):
            with self.subTest(address):
                self.platform.address = address
                answers = [BAD_DIGEST, BAD_DIGEST]
                self.platform.store_faults = lambda method, key, answers=answers: (
                    answers.pop() if answers and method == "PUT" else None
                )
                complete = self.completed()
                self.wait_until_complete(*complete, self.store(weights="good"))
                self.assertEqual(answers, [])

    def refuse_changed(self, wanted):
        self.platform.faults = lambda request: problem(503, "away", "it restarts")
        left = self.folders()
        uuid = self.store(weights="good")
        (self.storage / uuid / "weights").write_text("evil")
        self.platform.faults = lambda request: None
        self.wait_for_log(wanted)
        self.assertEqual(self.completed(), [])
        self.assertEqual(sorted(self.folders()), sorted([*left, uuid]))

    def test_a_sealed_file_that_is_missing_is_refused_by_name(self):
        self.platform.stop()
        uuid = self.store(weights="good")
        (self.storage / uuid / "weights").unlink()
        self.platform.start()
        self.wait_for_log(f"the sealed file {self.storage / uuid / 'weights'} is missing")
        self.assertEqual((self.completed(), self.left()), ([], []))

    def wait_for_log(self, text):
        deadline = time.monotonic() + 120
        while not any(text in line for line in self.log):
            self.assertLess(time.monotonic(), deadline, self.log)
            time.sleep(0.01)


class Reading(UploadCase):
    def stored(self):
        uuid = self.store(weights="0123456789")
        self.wait_until_complete(uuid)
        return uuid

    def test_reading_a_changed_object_raises_and_names_the_file(self):
        uuid = self.stored()
        self.platform.objects[f"{uuid}/weights"] = b"0123456780"
        with self.assertRaisesRegex(errors.CheckpointError, "is damaged: weights has 10 bytes"):
            self.checkpoint.download(uuid, self.folder / "copy")

    def test_reading_a_missing_object_raises_and_names_the_file(self):
        uuid = self.stored()
        del self.platform.objects[f"{uuid}/weights"]
        with self.assertRaisesRegex(errors.CheckpointError, "is damaged: weights is missing"):
            self.checkpoint.download(uuid, self.folder / "copy")

    def test_reading_waits_while_the_store_is_unavailable(self):
        uuid = self.stored()
        answers = [503, 403, "reset", 500]
        self.platform.store_faults = lambda method, key: answers.pop() if answers else None
        self.checkpoint.download(uuid, self.folder / "copy")
        self.assertEqual((self.folder / "copy/weights").read_text(), "0123456789")

    def test_a_manifest_path_that_leads_out_of_the_folder_is_refused(self):
        uuid = self.stored()
        self.platform.checkpoints[uuid]["manifest"][0]["path"] = "../../escape"
        with self.assertRaisesRegex(errors.CheckpointError, "outside its folder"):
            self.checkpoint.download(uuid, self.folder / "copy")
        self.assertFalse((self.folder / "escape").exists())
