import { expect, test } from "vitest";
import { launchOf } from "../testing/examples.ts";
import { environmentOf } from "./environment.ts";
import { visibleDevices } from "./visible-devices.ts";

const slot = (device: string, uuid: string, id = uuid) => ({ id, device, uuid, memoryBytes: 0 });

test("a run on CUDA slots sees exactly their GPUs, by UUID, in the order of its slots, and no AMD GPU", () => {
  expect(visibleDevices([slot("cuda", "GPU-b"), slot("cuda", "GPU-a")])).toEqual({
    CUDA_VISIBLE_DEVICES: "GPU-b,GPU-a",
    ROCR_VISIBLE_DEVICES: "",
  });
});

test("a run on ROCm slots sees exactly their GPUs, renumbered from 0", () => {
  const slots = [slot("rocm", "GPU-719d230578348e8c"), slot("rocm", "", "3")];
  expect(visibleDevices(slots)).toEqual({
    ROCR_VISIBLE_DEVICES: "GPU-719d230578348e8c,3",
    HIP_VISIBLE_DEVICES: "0,1",
    CUDA_VISIBLE_DEVICES: "0,1",
  });
});

test("a run on CPU slots, or without slots, sees no GPU", () => {
  const none = { CUDA_VISIBLE_DEVICES: "", ROCR_VISIBLE_DEVICES: "" };
  expect(visibleDevices([slot("cpu", "", "0")])).toEqual(none);
  expect(visibleDevices([])).toEqual(none);
});

test("neither the agent's variables nor the configuration's let a run see other devices", () => {
  const environmentVariables = ["CUDA_VISIBLE_DEVICES=0", "ROCR_VISIBLE_DEVICES=0"];
  const environment = environmentOf(launchOf("true", { environmentVariables }), {
    apiUrl: "",
    metricsUrl: "",
    sdkPath: null,
    runDir: "",
    home: null,
    storages: { checkpointRoot: null, uploadDiskShare: null, tensorboardRoot: null },
    slots: [slot("cuda", "GPU-a")],
    inherited: { CUDA_VISIBLE_DEVICES: "1", HIP_VISIBLE_DEVICES: "1", GPU_DEVICE_ORDINAL: "1" },
  });
  expect(environment).toMatchObject({ CUDA_VISIBLE_DEVICES: "GPU-a", ROCR_VISIBLE_DEVICES: "" });
  expect(environment).not.toHaveProperty("HIP_VISIBLE_DEVICES");
  expect(environment).not.toHaveProperty("GPU_DEVICE_ORDINAL");
});
