"""Implicit assumptions of trials that were written for Determined."""

from __future__ import annotations

import torch
from training import LineTrial, TrainerCase

from trainyard import pytorch

Mode = pytorch.LRScheduler.StepMode


class Habits(TrainerCase):
    def test_a_period_given_as_a_list_is_due_at_each_of_its_counts(self):
        class Noting(LineTrial):
            def build_callbacks(self):
                self.notes = notes = []

                class Notes(pytorch.PyTorchCallback):
                    def on_validation_end(_callback, metrics):
                        notes.append(self.context.current_train_batch() + 1)

                return {"notes": Notes()}

        trial = self.train(
            Noting,
            validation_period=pytorch.Batch([2, 5]),
            checkpoint_period=pytorch.Epoch((1,)),
            max_length=pytorch.Batch(12),
        )
        self.assertEqual(trial.notes, [2, 5, 12])
        self.assertEqual(repr(pytorch.Batch({5, 2})), "Batch([2, 5])")
        with self.assertRaisesRegex(
            TypeError, "max_length=Epoch\\(\\[1, 2\\]\\).* takes one number"
        ):
            self.train(max_length=pytorch.Epoch([1, 2]))
        with self.assertRaisesRegex(ValueError, r"pytorch.Batch\(0\)"):
            pytorch.Batch([3, 0])

    def test_epoch_hooks_without_the_index_are_called_with_a_warning(self):
        epochs = []

        class Old(pytorch.PyTorchCallback):
            def on_training_epoch_start(self):
                epochs.append("start")

        class WithOld(LineTrial):
            def build_callbacks(self):
                return {"old": Old()}

        with self.assertLogs("trainyard", "WARNING") as log:
            self.train(WithOld, max_length=pytorch.Epoch(2))
        self.assertEqual(epochs, ["start", "start"])
        warned = [line for line in log.output if "without epoch_idx" in line]
        self.assertEqual(len(warned), 1, log.output)

    def test_wrap_lr_scheduler_returns_the_same_scheduler(self):
        class Scheduled(LineTrial):
            def __init__(self, context):
                super().__init__(context)
                given = torch.optim.lr_scheduler.StepLR(self.optimizer, 2)
                self.same = context.wrap_lr_scheduler(given, Mode.STEP_EVERY_BATCH) is given

        self.assertTrue(self.train(Scheduled).same)

    def test_a_plateau_scheduler_is_accepted_only_with_manual_step(self):
        class Plateau(LineTrial):
            mode = Mode.MANUAL_STEP

            def __init__(self, context):
                super().__init__(context)
                plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer)
                self.plateau = context.wrap_lr_scheduler(plateau, self.mode)

            def build_callbacks(self):
                class Stepping(pytorch.PyTorchCallback):
                    def on_validation_end(_callback, metrics):
                        self.plateau.step(metrics["error"])

                return {"stepping": Stepping()}

        self.assertEqual(self.train(Plateau).plateau.last_epoch, 1)
        Plateau.mode = Mode.STEP_EVERY_EPOCH
        with self.assertRaisesRegex(ValueError, "ReduceLROnPlateau with MANUAL_STEP only"):
            self.train(Plateau, name="b")

    def test_a_torch_loader_with_nested_samplers_continues_where_it_stopped(self):
        class Chained(LineTrial):
            def __init__(self, context):
                super().__init__(context)
                context.experimental.disable_dataset_reproducibility_checks()
                self.firsts = []

            def build_training_data_loader(self):
                dataset = super().build_training_data_loader().dataset
                sampler = torch.utils.data.SequentialSampler(dataset)
                seed = self.context.get_trial_seed()
                sampler = pytorch.samplers.ReproducibleShuffleSampler(sampler, seed)
                sampler = pytorch.samplers.RepeatSampler(sampler)
                batches = torch.utils.data.BatchSampler(sampler, 4, drop_last=False)
                skip = self.context.get_initial_batch()
                batches = pytorch.samplers.SkipBatchSampler(batches, skip)
                return torch.utils.data.DataLoader(dataset, batch_sampler=batches)

            def train_batch(self, batch, epoch_idx, batch_idx):
                self.firsts.append(batch["x"][0].tolist())
                return super().train_batch(batch, epoch_idx, batch_idx)

        calm = self.train(Chained, name="calm", max_length=pytorch.Batch(14))
        self.train(Chained, max_length=pytorch.Batch(6))
        resumed = self.train(Chained, max_length=pytorch.Batch(14))
        self.assertEqual(resumed.firsts, calm.firsts[6:])
        self.assert_same_weights(calm.model, resumed.model)

    def test_a_reducer_can_be_wrapped_by_context_experimental(self):
        class Reduced(LineTrial):
            def __init__(self, context):
                super().__init__(context)
                self.count = context.experimental.wrap_reducer(len, name="count")
                context.reset_reducers()

            def evaluate_batch(self, batch):
                self.count.update(1)
                return {}

        self.train(Reduced)
        self.assertEqual(self.reports(group="validation")[10]["count"], 3)

    def test_a_model_sharded_by_fully_shard_is_refused(self):
        class Sharded(LineTrial):
            def build_model(self):
                from torch.distributed.fsdp import fully_shard

                store = torch.distributed.HashStore()
                torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
                model = super().build_model()
                mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (1,))
                return fully_shard(model, mesh=mesh)

        self.addCleanup(torch.distributed.destroy_process_group)
        with self.assertRaisesRegex(TypeError, r"fully_shard has sharded this one: .*shard=True"):
            self.train(Sharded)


if __name__ == "__main__":
    import unittest

    unittest.main()
