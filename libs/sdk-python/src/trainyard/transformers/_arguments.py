"""``TrainingArguments`` from a trial's hyperparameters."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from typing import Any

from .._context import Context
from .._frameworks import require

transformers = require("transformers", "trainyard.transformers")
torch = require("torch", "trainyard.transformers")

SECTION = "training_arguments"


def training_arguments(
    ctx: Context, arguments_class: type | None = None, **defaults: object
) -> Any:
    """Returns the Trainer's arguments: ``defaults``, overridden by the trial's hyperparameters.

    A hyperparameter with the name of an argument sets it (``learning_rate``, ``weight_decay``,
    ``per_device_train_batch_size``, …), and so does each entry of the section ``training_arguments``. In the
    section unknown names are refused; outside of it they are left to the script. ``seed`` is the trial's seed,
    ``output_dir`` a folder of the run, ``report_to`` nothing and ``save_total_limit`` 1 (the platform keeps the
    checkpoints) unless they are given. ``arguments_class`` is ``transformers.TrainingArguments`` or a class
    derived from it, such as ``Seq2SeqTrainingArguments``.

    Raises ValueError for an unknown name in the section.
    """
    arguments_type = arguments_class or transformers.TrainingArguments
    known = {field.name for field in dataclasses.fields(arguments_type) if field.init}
    values: dict[str, Any] = {
        "output_dir": str(ctx.info.run_dir / "trainer"),
        "seed": ctx.info.trial_seed,
        "report_to": "none",
        "save_total_limit": 1,
        # A progress bar that redraws its line does not fit into a log.
        "disable_tqdm": not sys.stderr.isatty(),
        "dataloader_pin_memory": torch.cuda.is_available(),
    }
    if ctx.distributed.size > 1 and not torch.cuda.is_available():
        values.update(use_cpu=True, ddp_backend="gloo")
    values.update(defaults)
    values.update(overrides_of(ctx.info.hparams, known, arguments_type.__name__))
    return arguments_type(**values)


def overrides_of(hparams: Mapping[str, Any], known: set[str], owner: str) -> dict[str, Any]:
    """The arguments that hyperparameters set; entries of the section override others."""
    section = hparams.get(SECTION, {})
    if not isinstance(section, Mapping):
        raise ValueError(
            f"the hyperparameter '{SECTION}' must be a section of arguments, not {section!r}"
        )
    unknown = sorted(set(section) - known)
    if unknown:
        raise ValueError(
            f"{owner} has no argument {', '.join(unknown)}: correct or take out the "
            f"hyperparameter '{SECTION}.{unknown[0]}'"
        )
    return {**{name: value for name, value in hparams.items() if name in known}, **section}
