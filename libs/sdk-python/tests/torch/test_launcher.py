"""Real DDP training over gloo under the launcher: the reported failure is the first one, not gloo's errors about
it.
"""

from __future__ import annotations

import unittest
from pathlib import Path

from ports import free_port
from test_launch import LaunchCase

TRAINING = """
    sys.path.insert(0, TESTS)
    from quick_torch import torch
    from torch.nn.parallel import DistributedDataParallel

    torch.set_num_threads(1)
    torch.manual_seed(0)
    torch.distributed.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    with trainyard.init(distributed=together) as ctx:
        for step in range(1, 21):
            if rank == 1 and step == 5:
                {}
            loss = model(torch.full((4, 8), float(rank + step))).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ctx.train.report_training_metrics(step, {{"loss": loss.detach()}})
            if ctx.preempt.should_preempt():
                break
        sums = together.allgather(sum(p.sum().item() for p in model.parameters()))
        assert len(set(sums)) == 1, sums
    print(step, torch.distributed.get_world_size())
    torch.distributed.destroy_process_group()
""".replace("TESTS", repr(str(Path(__file__).parent)))


class Training(LaunchCase):
    timeout_s = 480

    def test_a_training_on_two_nodes_reports_and_ends_as_finished(self):
        self.both(TRAINING.format("pass"), 0)
        self.assertEqual(len(self.platform.values("training", "loss")), 20)
        self.run_dir = self.folder / "run-0"
        self.assert_end("FINISHED")

    def both(self, script, code):
        port = str(free_port())
        more = {"nodes": 2, "slots": 1, "TRAINYARD_MASTER_PORT": port}
        processes = [self.node(script, node=n, **more) for n in (0, 1)]
        return [self.finish(process, code)[1] for process in processes]

    def test_the_first_failure_is_reported_instead_of_gloos_errors(self):
        for how, code, said in (
            ('raise ValueError("boom")', 1, "^rank 1: ValueError: boom"),
            ("os.kill(os.getpid(), signal.SIGKILL)", 137, "^rank 1: was ended by SIGKILL"),
        ):
            with self.subTest(how):
                self.both(TRAINING.format(how), code)
                for n in (0, 1):
                    self.run_dir = self.folder / f"run-{n}"
                    self.assertRegex(self.end()["message"], said)
                    (self.run_dir / "end.json").unlink()

    def test_the_rank_that_ended_early_is_named_for_a_script_without_the_sdk(self):
        plain = TRAINING.replace("with trainyard.init(distributed=together) as ctx:", "if True:")
        lines = [line for line in plain.splitlines() if "ctx." not in line and "break" not in line]
        script = "\n".join(lines).format("os._exit(0)")
        _, err = self.launch(script, code=1)
        said = (
            "rank 1 exited with code 0 while others were still at work; then rank 0: RuntimeError"
        )
        self.assertIn(said, err)
        self.assertIn(said, self.end()["message"])


if __name__ == "__main__":
    unittest.main()
