"""The examples of a PyTorchTrial learn without a cluster, at a reduced size. Each runs in a forked process, because
importing PyTorch again would take longer than its training.
"""

from __future__ import annotations

import json
import math
import unittest

from killing import FrameworkCase, load_ahead


def setUpModule() -> None:
    """Imports torch once for all forked processes; listing the tests stays fast."""
    load_ahead()


class Examples(FrameworkCase):
    def learn(self, example: str, *arguments: str, metric: str) -> float:
        """Runs the example and returns the metric of its last validation."""
        self.run_example(f"{example}/train.py", *arguments)
        end = json.loads((self.folder / "here/run-1/end.json").read_text())
        self.assertEqual(end["reason"], "END_REASON_FINISHED")
        self.assertGreater(len(self.reports("training")), 0)
        self.assertTrue(self.latest().is_dir())
        value = self.reports("validation")[-1]["metrics"][metric]
        self.assertTrue(math.isfinite(value), value)
        return value

    def test_pytorch_images_learns_alone_and_leaves_a_checkpoint(self) -> None:
        self.assertGreater(self.learn("pytorch-images", "epochs=3", metric="accuracy"), 0.8)

    def test_pytorch_text_learns_alone_and_leaves_a_checkpoint(self) -> None:
        size = ("epochs=3", "warmup_batches=20", "layers=1")
        self.assertGreater(self.learn("pytorch-text", *size, metric="f1"), 0.75)

    def test_pytorch_gan_learns_alone_and_leaves_a_checkpoint(self) -> None:
        self.assertLess(self.learn("pytorch-gan", "batches=500", metric="distance"), 3)

    def test_pytorch_tabular_learns_alone_and_leaves_a_checkpoint(self) -> None:
        loss = self.learn("pytorch-tabular", "epochs=3", metric="validation_loss")
        self.assertLess(loss, 0.35)


if __name__ == "__main__":
    unittest.main()
