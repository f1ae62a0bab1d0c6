"""A trial that is built from a recipe, and a process that trains it until its end or a kill."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import warnings
from unittest import mock

import recipe_parts
import torch
from recipe_parts import WIDTH, drawn, loader_of, net_of, optimizer_of, scheduler_of
from recipes import BATCHES

from trainyard import _local, pytorch
from trainyard.pytorch import _coordinator, _loop, _reports
from trainyard.pytorch.checkpointing import _files, _saver


class Fuse:
    """Kills the process at the n-th occurrence of an event."""

    def __init__(self, event, left):
        self.event = event
        self.left = left

    def burn(self, event):
        if event == self.event:
            self.left -= 1
            if self.left < 0:
                os.kill(os.getpid(), signal.SIGKILL)


class Clock:
    """A clock that advances by a second at each reading."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


class Average(pytorch.PyTorchCallback):
    """A moving average of a model's weights, and a scheduler that uses the validation's metric."""

    def __init__(self, trial, averages):
        model = trial.models[0]
        ema = torch.optim.swa_utils.get_ema_multi_avg_fn(0.9)
        inner = getattr(model, "module", model)
        self.average = (
            torch.optim.swa_utils.AveragedModel(inner, multi_avg_fn=ema) if averages else None
        )
        self.inner = inner
        self.plateaus = trial.plateaus
        self.heard = []

    def on_validation_end(self, metrics):
        self.heard.append(metrics["error"])
        for plateau in self.plateaus:
            plateau.step(metrics["error"])

    def on_training_epoch_end(self, epoch_idx):
        self.heard.append(epoch_idx)
        if self.average is not None:
            self.average.update_parameters(self.inner)

    def state_dict(self):
        average = self.average.state_dict() if self.average is not None else None
        return {"average": average, "heard": self.heard}

    def load_state_dict(self, state_dict):
        self.heard = state_dict["heard"]
        if self.average is not None:
            self.average.load_state_dict(state_dict["average"])


class Hooked(pytorch.PyTorchCallback):
    def on_checkpoint_write_end(self, checkpoint_dir):
        with open(os.path.join(checkpoint_dir, "more"), "w") as file:
            file.write("more")


class Sums(pytorch.MetricReducer):
    def __init__(self):
        self.reset()

    def reset(self):
        self.total, self.seen = torch.zeros(()), {}

    def update(self, value):
        self.total = self.total + value
        self.seen[len(self.seen)] = float(value)

    def per_slot_reduce(self):
        return float(self.total), len(self.seen)

    def cross_slot_reduce(self, per_slot_metrics):
        return sum(total for total, _ in per_slot_metrics)


class RecipeTrial(pytorch.PyTorchTrial):
    def __init__(self, context, recipe, fuse, clock):
        self.context, self.recipe, self.fuse, self.clock = context, recipe, fuse, clock
        if recipe["precision"] == "amp":
            context.experimental.use_amp()
        self.scaler = None
        if recipe["precision"] == "scaler":
            scaler = torch.amp.GradScaler(context.device.type, 4.0, growth_interval=3)
            self.scaler = context.wrap_scaler(scaler)
        if recipe["data"]["sampling"] == "torch":
            context.experimental.disable_dataset_reproducibility_checks()
        parts = recipe["parts"]
        self.models = [context.wrap_model(net_of(part["net"])) for part in parts]
        self.optimizers = [
            context.wrap_optimizer(optimizer_of(part, model))
            for part, model in zip(parts, self.models)
        ]
        self.plateaus = []
        for part, optimizer in zip(parts, self.optimizers):
            if part["scheduler"] is not None:
                self.wrap_scheduler(part, optimizer)
        kinds = {"function": lambda values: sum(values), "class": Sums(), None: None}
        made = kinds[recipe["reducer"]]
        self.reducer = context.wrap_reducer(made, "summed") if made is not None else None

    def wrap_scheduler(self, part, optimizer):
        made = scheduler_of(part["scheduler"], optimizer)
        mode = pytorch.LRScheduler.StepMode[part["mode"]]
        self.context.wrap_lr_scheduler(made, mode, part["every"])
        if part["scheduler"] == "plateau":
            self.plateaus.append(made)

    def build_training_data_loader(self):
        return loader_of(self.recipe["data"])

    def build_validation_data_loader(self):
        return pytorch.DataLoader(
            recipe_parts.Samples(7, "python torch"), 3, collate_fn=recipe_parts.Collate("numpy")
        )

    def build_callbacks(self):
        self.average = Average(self, self.recipe["average"])
        hooked = {"hooked": Hooked()} if self.recipe["hook"] else {}
        return {"average": self.average, **hooked}

    def loss(self, model, batch):
        loss = torch.nn.functional.mse_loss(model(batch["x"]).float(), batch["y"])
        return loss + 0.01 * drawn(self.recipe["chance"])

    def train_batch(self, batch, epoch_idx, batch_idx):
        self.fuse.burn("batch")
        self.clock.now += 1.0
        if isinstance(batch, list):
            batch = {"x": batch[0], "y": batch[1]}
        if len(batch["y"]) == 1:
            # Batch statistics need more than one sample.
            batch = {name: torch.cat([value, value + 0.5]) for name, value in batch.items()}
        metrics = {}
        for n, (part, model, optimizer) in enumerate(
            zip(self.recipe["parts"], self.models, self.optimizers)
        ):
            step = self.closed if part["optimizer"] == "lbfgs" else self.step
            loss = step(model, optimizer, batch)
            metrics[f"loss{n}" if n else "loss"] = loss
            if part["scheduler"] is not None:
                metrics[f"rate{n}"] = optimizer.param_groups[0]["lr"]
        steps = (batch_idx + 1) % self.recipe["frequency"] == 0
        scales = any(part["optimizer"] != "lbfgs" for part in self.recipe["parts"])
        if self.scaler is not None and steps and scales:
            self.scaler.update()
            metrics["scale"] = self.scaler.get_scale()
        if self.reducer is not None:
            self.reducer.update(float(metrics["loss"].detach()))
        self.fuse.burn("stepped")
        return {**metrics, "chance": random.random()} if batch_idx % 3 else metrics

    def step(self, model, optimizer, batch):
        if self.scaler is None:
            loss = self.loss(model, batch)
            self.context.backward(loss)
        else:
            with self.context.autocast():
                loss = self.loss(model, batch)
            self.context.backward(self.scaler.scale(loss))
        limit = self.recipe["clip"]
        clip = (lambda made: torch.nn.utils.clip_grad_norm_(made, limit)) if limit else None
        self.context.step_optimizer(
            optimizer, clip_grads=clip, scaler=self.scaler, auto_zero_grads=self.recipe["zero"]
        )
        if not self.recipe["zero"] and self.context.current_train_batch() % 4 == 3:
            optimizer.zero_grad()
        return loss

    def closed(self, model, optimizer, batch):
        """Takes a step of an optimizer that computes the loss several times."""

        def closure():
            optimizer.zero_grad()
            loss = self.loss(model, batch)
            loss.backward()
            return loss

        return optimizer.step(closure)

    def evaluate_batch(self, batch, batch_idx):
        self.fuse.burn("evaluating")
        if self.reducer is not None:
            self.reducer.update(float(batch["y"].sum()))
        x, y = batch["x"], batch["y"]
        return {"error": sum((model(x).float() - y).square().mean() for model in self.models)}


@contextlib.contextmanager
def burning(fuse):
    """Makes the fuse see the events that the trial does not see."""

    def around(module, name, event, after=False):
        plain = getattr(module, name)

        def called(*arguments, **named):
            if not after:
                fuse.burn(event)
            found = plain(*arguments, **named)
            if after:
                fuse.burn(event)
            return found

        return mock.patch.object(module, name, called)

    with contextlib.ExitStack() as stack:
        stack.enter_context(around(_reports.Reports, "report", "reported", after=True))
        stack.enter_context(around(_saver.Saver, "save", "copied", after=True))
        stack.enter_context(around(_files, "rank_file", "writing"))
        stack.enter_context(around(_local.LocalStore, "complete", "completing"))
        stack.enter_context(around(_local.LocalStore, "complete", "stored", after=True))
        yield


def units_of(fit):
    """Returns the arguments of ``Trainer.fit`` for a recipe."""
    found = {"max_length": pytorch.Batch(BATCHES), **fit}
    return {
        name: getattr(pytorch, value[0])(value[1]) if isinstance(value, tuple) else value
        for name, value in found.items()
    }


def train(recipe, folder, kill=None):
    """Trains in a folder, in this process, which may be one of several ranks."""
    torch.set_num_threads(1)
    # cuDNN does not give away the random state of the dropout of recurrent layers.
    torch.backends.cudnn.enabled = all(part["net"] != "recurrent" for part in recipe["parts"])
    # Schedulers that step at batches without an optimizer step would cause warnings.
    warnings.simplefilter("ignore")
    rank = int(os.environ.get("RANK") or 0)
    os.environ["TRAINYARD_LOCAL_DIR"] = str(folder)
    mine = kill is not None and kill[0] % recipe["ranks"] == rank
    fuse, clock = Fuse(kill[1], kill[2]) if mine else Fuse("", 0), Clock()
    config = {"reproducibility": {"experiment_seed": recipe["seed"] % 1000}}
    if recipe["seed"] % 2:
        config["searcher"] = {"metric": "error"}
    with (
        burning(fuse),
        mock.patch.object(_loop, "time", clock),
        mock.patch.object(_coordinator, "time", clock),
    ):
        init = {"hparams": {}, "exp_conf": config, "aggregation_frequency": recipe["frequency"]}
        with pytorch.init(**init) as context:
            trial = RecipeTrial(context, recipe, fuse, clock)
            pytorch.Trainer(trial, context).fit(**units_of(recipe["fit"]))
            torch.save(ended(trial), folder / f"ended-{rank}.pt")


def ended(trial):
    """Returns the parts of a training that must be equal at its end."""
    models = [getattr(model, "module", model) for model in trial.models]
    return {
        "models": [model.state_dict() for model in models],
        "optimizers": [one.state_dict() for one in trial.optimizers],
        "schedulers": [one.state_dict() for one in trial.context.lr_schedulers],
        "scaler": trial.scaler.state_dict() if trial.scaler is not None else None,
        "callbacks": trial.average.state_dict(),
        "chance": [random.random(), torch.rand(()).item(), WIDTH],
    }
