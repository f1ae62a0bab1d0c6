"""Samples GPUs with the driver's library (NVML), which nvidia-smi uses, too. A call takes microseconds, while
starting a process would take a tenth of a second.

Only the GPUs in ``CUDA_VISIBLE_DEVICES`` are sampled. Values that a GPU does not report are left out: a MIG slice,
for example, has no utilisation.
"""

from __future__ import annotations

import os
from typing import Any, Callable

from ._sources import Reading, Source

LIBRARY = "libnvidia-ml.so.1"
_UUID_BYTES = 96
# NVML_TEMPERATURE_GPU, the sensor of the chip.
_TEMPERATURE_GPU = 0


class Gpus(Source):
    """The GPUs of this node, by their number on it."""

    group = "gpu"

    def __init__(self, library: Any, handles: list[tuple[str, Any]]) -> None:
        self._library = library
        self._handles = handles

    def read(self, now_s: float) -> list[Reading]:
        readings = [(self.group, device, self._values(handle)) for device, handle in self._handles]
        return [reading for reading in readings if reading[2]]

    def close(self) -> None:
        self._library.nvmlShutdown()

    def _values(self, handle: Any) -> dict[str, float]:
        import ctypes

        values: dict[str, float] = {}
        rates = (ctypes.c_uint * 2)()
        if self._library.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(rates)) == 0:
            values["utilization_percent"] = float(rates[0])
            values["memory_bandwidth_percent"] = float(rates[1])
        # The total, free and used memory.
        memory = (ctypes.c_ulonglong * 3)()
        if self._library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == 0:
            values["memory_used_bytes"] = float(memory[2])
            values["memory_free_bytes"] = float(memory[1])
        number = ctypes.c_uint()
        if self._library.nvmlDeviceGetPowerUsage(handle, ctypes.byref(number)) == 0:
            values["power_watts"] = number.value / 1000
        if (
            self._library.nvmlDeviceGetTemperature(handle, _TEMPERATURE_GPU, ctypes.byref(number))
            == 0
        ):
            values["temperature_celsius"] = float(number.value)
        return values


def gpus_here(load: Callable[[], Any] | None = None) -> list[Source]:
    """Returns the source of this node's GPUs, or an empty list. ``load`` returns NVML, and raises OSError if it is
    missing.
    """
    import ctypes

    try:
        library = ctypes.CDLL(LIBRARY) if load is None else load()
    except OSError:
        return []
    if library.nvmlInit_v2() != 0:
        return []
    count = ctypes.c_uint()
    if library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
        return []
    visible = _visible(os.environ.get("CUDA_VISIBLE_DEVICES"))
    handles = []
    for index in range(count.value):
        handle = ctypes.c_void_p()
        if library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)) != 0:
            continue
        uuid = ctypes.create_string_buffer(_UUID_BYTES)
        library.nvmlDeviceGetUUID(handle, uuid, _UUID_BYTES)
        if visible is None or _is_visible(visible, index, uuid.value.decode()):
            handles.append((str(index), handle))
    return [Gpus(library, handles)] if handles else []


def _visible(text: str | None) -> list[str] | None:
    """The entries of CUDA_VISIBLE_DEVICES; None if it is not set, so that every GPU is visible."""
    return None if text is None else [entry.strip() for entry in text.split(",")]


def _is_visible(entries: list[str], index: int, uuid: str) -> bool:
    """Whether an entry is the GPU's number or the beginning of its UUID."""
    return any(
        entry == str(index) or (entry.startswith("GPU-") and uuid.startswith(entry))
        for entry in entries
    )
