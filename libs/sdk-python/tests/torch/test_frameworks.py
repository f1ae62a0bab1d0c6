"""One checkpoint of several processes that write to one folder, as the integrations store it."""

from __future__ import annotations

import os
import unittest

from killing import FrameworkCase, in_children

from trainyard import CheckpointError
from trainyard._frameworks import check_processes, require, store_together, upload_together


class Together(FrameworkCase):
    def test_the_files_of_all_ranks_are_stored_in_one_checkpoint(self):
        def work():
            with self.open_together() as ctx:
                with store_together(ctx, {"steps_completed": 1}) as (folder, uuid):
                    (folder / f"of-{ctx.distributed.rank}").write_text(uuid)
                # Every rank can read the checkpoint, because it is stored when the block ends.
                self.assertEqual(ctx.checkpoint.get_metadata(uuid), {"steps_completed": 1})

        self.assertEqual(in_children(3, work), [0, 0, 0])
        stored = {file.name for file in self.latest().iterdir()}
        self.assertEqual(stored, {"metadata.json", "of-0", "of-1", "of-2"})

    def test_an_error_on_one_rank_is_raised_on_all_and_the_next_checkpoint_is_stored(self):
        def work():
            with self.open_together() as ctx:
                for failing in (0, 1):
                    mine = failing == ctx.distributed.rank
                    said = "lost" if mine else f"rank {failing}: KeyError: 'lost'"
                    with self.assertRaisesRegex(KeyError if mine else CheckpointError, said):
                        with store_together(ctx, {"steps_completed": 1}):
                            if mine:
                                raise KeyError("lost")
                with self.assertRaises(
                    ValueError if ctx.distributed.rank == 0 else CheckpointError
                ):
                    with store_together(ctx, {}):
                        pass
                with store_together(ctx, {"steps_completed": 2}) as (folder, _):
                    (folder / f"of-{ctx.distributed.rank}").write_text("")

        self.assertEqual(in_children(2, work), [0, 0])
        lines = (self.folder / "here/checkpoints/complete.ndjson").read_text().split()
        self.assertEqual(len(lines), 1)

    def test_a_file_that_several_hosts_have_is_stored_by_the_first(self):
        def work():
            rank = os.environ["RANK"]
            os.environ.update(
                LOCAL_RANK="0", LOCAL_WORLD_SIZE="1", GROUP_RANK=rank, GROUP_WORLD_SIZE="2"
            )
            os.environ["TRAINYARD_DISTRIBUTED_SECRET"] = "of this test"
            written = self.folder / f"host-{rank}"
            written.mkdir()
            (written / "all").write_text(rank)
            (written / f"of-{rank}").write_text(rank)
            with self.open_together() as ctx:
                upload_together(ctx, written, {"steps_completed": 1})

        self.assertEqual(in_children(2, work), [0, 0])
        found = {file.name: file.read_text() for file in self.latest().iterdir()}
        del found["metadata.json"]
        self.assertEqual(found, {"all": "0", "of-0": "0", "of-1": "1"})


class Complaints(FrameworkCase):
    def test_a_missing_package_is_named_with_its_installation(self):
        with self.assertRaisesRegex(ImportError, "^us needs the package no_such.*install no_such"):
            require("no_such.part", "us")

    def test_a_number_of_processes_other_than_the_runs_is_refused(self):
        with self.open_local() as ctx:
            with self.assertRaisesRegex(
                ValueError, "the Trainer has 4 processes, but the run has 1"
            ):
                check_processes(ctx, 4, "Trainer")


if __name__ == "__main__":
    unittest.main()
