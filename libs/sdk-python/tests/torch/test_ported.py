"""Remainders of Determined in a ported trial or script, and the messages about them."""

from __future__ import annotations

import importlib
import os
from unittest import mock

from training import LineTrial, TrainerCase

from trainyard import pytorch

Mode = pytorch.LRScheduler.StepMode


class Ported(TrainerCase):
    def test_step_modes_have_determineds_numbers(self):
        names = ["STEP_EVERY_EPOCH", "STEP_EVERY_BATCH", "MANUAL_STEP", "STEP_EVERY_OPTIMIZER_STEP"]
        self.assertEqual([Mode(number).name for number in (1, 2, 3, 4)], names)

    def test_a_hook_that_is_never_called_causes_a_warning(self):
        class Old(LineTrial):
            def build_callbacks(self):
                class Saving(pytorch.PyTorchCallback):
                    def on_checkpoint_end(self, checkpoint_dir):
                        raise AssertionError

                    def on_training_stat(self):
                        raise AssertionError

                return {"old": Saving()}

        with self.assertLogs("trainyard", "WARNING") as logs:
            self.train(Old)
        said = "\n".join(logs.output)
        self.assertRegex(said, "on_checkpoint_end.*never called.*on_checkpoint_write_end")
        self.assertRegex(said, "on_training_stat.*never called.*on_training_start")

    def test_the_tensorboard_writer_has_the_attribute_writer(self):
        class Drawing(LineTrial):
            def train_batch(self, batch, epoch_idx, batch_idx):
                self.context.get_tensorboard_writer().writer.add_scalar("a", 1, batch_idx)
                return super().train_batch(batch, epoch_idx, batch_idx)

        self.train(Drawing)

    def test_removed_methods_of_the_context_name_their_replacement(self):
        for name, remedy in (
            ("configure_apex_amp", "use_amp"),
            ("_current_batch_idx", "current_train_batch"),
            ("get_enable_tensorboard_logging", "enable_tensorboard_logging"),
            ("set_enable_tensorboard_logging", "enable_tensorboard_logging"),
            ("env", "get_experiment_config"),
            ("hvd_config", "trainyard.launch.torch"),
        ):

            class Uses(LineTrial):
                def __init__(self, context, name=name):
                    getattr(context, name)

            with self.subTest(name=name):
                with self.assertRaisesRegex(
                    AttributeError, f"{name}, which Determined has: .*{remedy}"
                ):
                    self.train(Uses)

    def test_removed_names_of_the_module_name_their_replacement(self):
        for name, remedy in (
            ("CheckpointLoadContext", "load_trial_from_checkpoint_path"),
            ("ClipGradsL2Norm", "clip_grads"),
            ("ClipGradsL2Value", "clip_grads"),
            ("PyTorchExperimentalContext", "context.experimental"),
        ):
            with self.subTest(name=name):
                with self.assertRaisesRegex(
                    ImportError, f"{name}, which Determined has: .*{remedy}"
                ):
                    exec(f"from trainyard.pytorch import {name}")
        with self.assertRaisesRegex(AttributeError, "no attribute 'nonsense'"):
            pytorch.nonsense  # pyright: ignore[reportAttributeAccessIssue] — it is absent
        for name, remedy in (
            ("experimental", "get_data_loader"),
            ("deepspeed", "trainyard.deepspeed"),
            ("dsat", "hyperparameters"),
            ("lightning", "trainyard.lightning"),
        ):
            with self.subTest(name=name):
                with self.assertRaisesRegex(
                    ImportError, f"pytorch has no module {name}, which .*{remedy}"
                ):
                    importlib.import_module(f"trainyard.pytorch.{name}")

    def test_a_single_process_for_several_slots_is_refused(self):
        task = {
            "TRAINYARD_TRIAL_ID": "1.1",
            "TRAINYARD_EXPERIMENT_ID": "1",
            "TRAINYARD_RUN": "1",
            "TRAINYARD_TRIAL_SEED": "7",
            "TRAINYARD_RUN_DIR": "run",
            "TRAINYARD_SLOT_IDS": "0,1",
        }
        with mock.patch.dict(os.environ, task):
            os.environ.pop("WORLD_SIZE", None)
            with self.assertRaisesRegex(ValueError, "2 slots.*python3 -m trainyard.launch.torch"):
                with pytorch.init():
                    pass

    def test_invalid_hp_in_a_training_ends_the_script_with_exit_code_0(self):
        from trainyard import InvalidHP

        class Impossible(LineTrial):
            def train_batch(self, batch, epoch_idx, batch_idx):
                raise InvalidHP("no units")

        with self.assertRaises(SystemExit) as end:
            self.train(Impossible)
        self.assertEqual(end.exception.code, 0)
