/**
 * The variables that show a training process exactly the devices of its slots, in the order of the slots, so that local
 * rank n has device n. Sources: "CUDA Environment Variables" of NVIDIA's CUDA Programming Guide (UUIDs; an empty value
 * hides all), and "GPU isolation techniques" of AMD's ROCm documentation (ROCR_VISIBLE_DEVICES takes UUIDs or numbers;
 * HIP_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES are numbers among the devices that it leaves).
 */
import type { Plain } from "@trainyard/contracts";
import type { Slot } from "@trainyard/contracts/events";

/** The variables that hide or show devices; a run inherits none of them from the agent. */
export const visibilityVariables =
  /^(CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|GPU_DEVICE_ORDINAL)$/;

export function visibleDevices(slots: readonly Plain<Slot>[]): Readonly<Record<string, string>> {
  const cuda = slots.filter(({ device }) => device === "cuda");
  const rocm = slots.filter(({ device }) => device === "rocm");
  if (rocm.length === 0) {
    const uuids = cuda.map(({ uuid }) => uuid).join(",");
    return { CUDA_VISIBLE_DEVICES: uuids, ROCR_VISIBLE_DEVICES: "" };
  }
  const numbers = rocm.map((_, n) => n).join(",");
  return {
    ROCR_VISIBLE_DEVICES: rocm.map(({ id, uuid }) => uuid || id).join(","),
    HIP_VISIBLE_DEVICES: numbers,
    CUDA_VISIBLE_DEVICES: numbers,
  };
}
