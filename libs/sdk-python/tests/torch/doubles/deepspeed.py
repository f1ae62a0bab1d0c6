"""A stand-in for DeepSpeed, which cannot be installed on every machine: the part of its documented interface that
``trainyard.deepspeed`` and the example use, on CPU. Each rank stores the optimizer's state in a separate file,
like ZeRO.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import distributed


def init_distributed(dist_backend: str | None = None) -> None:
    """Creates a process group from the environment."""
    distributed.init_process_group(dist_backend or "gloo")


def initialize(
    *, model: Any, config: dict[str, Any], model_parameters: Any = None, training_data: Any = None
) -> tuple[DeepSpeedEngine, Any, Any, Any]:
    engine = DeepSpeedEngine(model, config, list(model_parameters or model.parameters()))
    return engine, engine.optimizer, None, None


class DeepSpeedEngine:
    def __init__(self, model: Any, config: dict[str, Any], parameters: Any) -> None:
        self.module = model
        self.optimizer = torch.optim.Adam(parameters, **config["optimizer"]["params"])
        self._accumulated = config.get("gradient_accumulation_steps", 1)
        self._micro_batch = config["train_micro_batch_size_per_gpu"]
        self.global_steps = 0
        self.micro_steps = 0

    def __call__(self, *inputs: Any) -> Any:
        return self.module(*inputs)

    def train_micro_batch_size_per_gpu(self) -> int:
        return self._micro_batch

    @property
    def device(self) -> torch.device:
        return torch.device("cpu")

    def backward(self, loss: Any) -> None:
        (loss / self._accumulated).backward()

    def is_gradient_accumulation_boundary(self) -> bool:
        return (self.micro_steps + 1) % self._accumulated == 0

    def step(self) -> None:
        if self.is_gradient_accumulation_boundary():
            for parameter in self.module.parameters():
                if distributed.is_initialized():
                    distributed.all_reduce(parameter.grad)
                    parameter.grad /= distributed.get_world_size()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.global_steps += 1
        self.micro_steps += 1

    def save_checkpoint(
        self,
        save_dir: str,
        tag: str | None = None,
        client_state: dict[str, Any] | None = None,
        save_latest: bool = True,
    ) -> bool:
        folder = Path(save_dir) / (tag or f"global_step{self.global_steps}")
        folder.mkdir(parents=True, exist_ok=True)
        if _rank() == 0:
            counts = {"global_steps": self.global_steps, "micro_steps": self.micro_steps}
            state = {"module": self.module.state_dict(), **counts, "client": client_state or {}}
            torch.save(state, folder / "mp_rank_00_model_states.pt")
            if save_latest:
                (Path(save_dir) / "latest").write_text(folder.name)
        torch.save(self.optimizer.state_dict(), folder / _optimizer_file())
        if distributed.is_initialized():
            distributed.barrier()
        return True

    def load_checkpoint(
        self, load_dir: str, tag: str | None = None
    ) -> tuple[str | None, dict[str, Any] | None]:
        folder = Path(load_dir) / (tag or (Path(load_dir) / "latest").read_text())
        if not folder.is_dir():
            return None, None
        state = torch.load(folder / "mp_rank_00_model_states.pt", weights_only=True)
        self.module.load_state_dict(state["module"])
        self.optimizer.load_state_dict(torch.load(folder / _optimizer_file(), weights_only=True))
        self.global_steps, self.micro_steps = state["global_steps"], state["micro_steps"]
        return str(folder), state["client"]


def _rank() -> int:
    return distributed.get_rank() if distributed.is_initialized() else 0


def _optimizer_file() -> str:
    return f"zero_pp_rank_{_rank()}_mp_rank_00_optim_states.pt"
