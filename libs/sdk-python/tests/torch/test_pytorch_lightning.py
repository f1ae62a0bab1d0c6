"""Trainyard's parts for Lightning with the package pytorch_lightning, in a process that never imports lightning."""

from __future__ import annotations

import importlib
import sys
import unittest


class Supported(unittest.TestCase):
    def test_the_package_pytorch_lightning_is_supported(self):
        old = importlib.import_module("pytorch_lightning")
        ours = importlib.import_module("trainyard.lightning")
        self.assertTrue(issubclass(ours.Callback, old.callbacks.Checkpoint))
        self.assertTrue(issubclass(ours.Logger, old.loggers.Logger))
        environments = old.plugins.environments
        self.assertTrue(issubclass(ours.Environment, environments.ClusterEnvironment))
        self.assertNotIn("lightning", sys.modules)


if __name__ == "__main__":
    unittest.main()
