"""The uploading program reads files in parts with their digests, and only files inside of the run's folder."""

import json
import os
import threading
import unittest
from unittest import mock

import test_checkpoint_upload as uploads

from trainyard._checkpoint import _hash_lane, _parts, _upload_process, _uploader
from trainyard._storage import FileEntry


class Digesting(uploads.UploadCase):
    def test_a_large_file_has_a_digest_for_each_part(self):
        import hashlib

        moved = []
        content = os.urandom(2_500_000)
        (self.folder / "big").write_bytes(content)
        entry = FileEntry("big", len(content), hashlib.sha256(content).hexdigest())
        with mock.patch.object(_parts, "UPLOAD_PART_BYTES", 1_000_000):
            digested = _parts.digest(self.folder, entry, moved.append)
        pieces = [content[start : start + 1_000_000] for start in range(0, len(content), 1_000_000)]
        self.assertEqual(sum(moved), len(content))
        self.assertEqual(digested.parts, [hashlib.sha256(piece).hexdigest() for piece in pieces])
        self.assertEqual(json.loads(json.dumps(digested.message()))["partSha256"], digested.parts)
        whole = _parts.digest(self.folder, entry, moved.append, False)
        self.assertNotIn("md5", whole.message())


class OwnFiles(uploads.UploadCase):
    def test_a_link_that_leads_out_of_the_folder_is_not_followed(self):
        own, other = self.folder / "own", self.folder / "other"
        (own / "inside").mkdir(parents=True)
        other.mkdir()
        for folder in (own / "inside", other):
            (folder / "file").write_text("x")
        (own / "to_file").symlink_to(other / "file")
        (own / "to_folder").symlink_to(other)
        (own / "to_inside").symlink_to(own / "inside" / "file")
        self.assertEqual(_uploader._own_files(own), ["inside/file", "to_inside"])

    def test_an_upload_process_that_cannot_be_started_may_be_retried(self):
        with mock.patch("subprocess.Popen", side_effect=OSError(11, "try again")):
            sent = _upload_process.UploadProcess().run({})
        self.assertEqual((sent.manifest, sent.is_sent, sent.refused), (None, False, False))


class HashLane(unittest.TestCase):
    def test_the_hash_lane_hashes_all_pieces_and_its_thread_ends(self):
        import hashlib

        pieces = [os.urandom(1_000) for _ in range(50)]
        for expected in (0, _hash_lane.HASH_LANE_BYTES_MIN):
            with _hash_lane.HashLane(expected) as lane:
                for piece in pieces:
                    lane.update(piece)
                self.assertEqual(lane.hexdigest(), hashlib.sha256(b"".join(pieces)).hexdigest())
            self.assertEqual(self.lanes(), [])

    def test_the_hash_lanes_thread_ends_after_an_error(self):
        with self.assertRaises(OSError), _hash_lane.HashLane(1 << 30) as lane:
            lane.update(b"1")
            raise OSError("the disk is full")
        self.assertEqual(self.lanes(), [])

    def lanes(self):
        return [thread for thread in threading.enumerate() if thread.name == "trainyard-hash"]
