"""GPUs are read through NVML, here through a fake."""

from __future__ import annotations

import ctypes
import os
import unittest
from unittest import mock

from trainyard.profiler import _gpus


class FakeNvml:
    """NVML's functions for two GPUs. The second does not report its power."""

    nvmlInit_v2 = staticmethod(lambda: 0)
    nvmlShutdown = staticmethod(lambda: 0)

    @staticmethod
    def nvmlDeviceGetCount_v2(count):
        ctypes.cast(count, ctypes.POINTER(ctypes.c_uint))[0] = 2
        return 0

    @staticmethod
    def nvmlDeviceGetHandleByIndex_v2(index, handle):
        ctypes.cast(handle, ctypes.POINTER(ctypes.c_void_p))[0] = index + 1
        return 0

    @staticmethod
    def nvmlDeviceGetUUID(handle, text, size):
        text.value = f"GPU-{'a' * handle.value}".encode()
        return 0

    @staticmethod
    def nvmlDeviceGetUtilizationRates(handle, rates):
        values = ctypes.cast(rates, ctypes.POINTER(ctypes.c_uint))
        values[0], values[1] = 40 + handle.value, 7
        return 0

    @staticmethod
    def nvmlDeviceGetMemoryInfo(handle, memory):
        values = ctypes.cast(memory, ctypes.POINTER(ctypes.c_ulonglong))
        values[0], values[1], values[2] = 100, 60, 40
        return 0

    @staticmethod
    def nvmlDeviceGetPowerUsage(handle, milliwatts):
        ctypes.cast(milliwatts, ctypes.POINTER(ctypes.c_uint))[0] = 250_000
        return 0 if handle.value == 1 else 3

    @staticmethod
    def nvmlDeviceGetTemperature(handle, sensor, degrees):
        ctypes.cast(degrees, ctypes.POINTER(ctypes.c_uint))[0] = 50
        return 0


class Gpus(unittest.TestCase):
    def read(self, visible=None):
        environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
        with mock.patch.dict(os.environ, environment):
            if visible is None:
                os.environ.pop("CUDA_VISIBLE_DEVICES", None)
            sources = _gpus.gpus_here(FakeNvml)
        return [(device, values) for s in sources for _, device, values in s.read(0.0)]

    def test_each_gpu_reports_the_values_that_it_measures(self):
        first, second = self.read()
        self.assertEqual(
            first,
            (
                "0",
                {
                    "utilization_percent": 41.0,
                    "memory_bandwidth_percent": 7.0,
                    "memory_used_bytes": 40.0,
                    "memory_free_bytes": 60.0,
                    "power_watts": 250.0,
                    "temperature_celsius": 50.0,
                },
            ),
        )
        self.assertEqual(second[0], "1")
        self.assertNotIn("power_watts", second[1])

    def test_only_gpus_in_cuda_visible_devices_are_read(self):
        self.assertEqual([device for device, _ in self.read("1")], ["1"])
        self.assertEqual([device for device, _ in self.read("GPU-aa")], ["1"])
        self.assertEqual(self.read(""), [])

    def test_a_machine_without_nvml_has_no_gpus(self):
        def absent():
            raise OSError("libnvidia-ml.so.1: cannot open shared object file")

        self.assertEqual(_gpus.gpus_here(absent), [])


if __name__ == "__main__":
    unittest.main()
