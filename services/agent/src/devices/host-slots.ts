/** Slots without a program that lists them: their number comes from the settings and never changes. */
import { cpus, totalmem } from "node:os";
import type { Plain } from "@trainyard/contracts";
import type { Slot } from "@trainyard/contracts/events";
import { storableText } from "@trainyard/kernel";
import { limits } from "../limits.ts";

/** Divides the memory of the host among the slots, for display; it is not enforced. */
export function cpuSlots(count: number): readonly Plain<Slot>[] {
  const model = storableText(cpus()[0]?.model.trim() ?? "", limits.deviceLineCharsMax);
  return slots(count, model);
}

/** Slots without devices, to try out scheduling. Their runs use the CPU. */
export function artificialSlots(count: number): readonly Plain<Slot>[] {
  return slots(count, "artificial");
}

function slots(count: number, name: string): readonly Plain<Slot>[] {
  const memoryBytes = Math.floor(totalmem() / Math.max(1, count));
  const named = name === "" ? {} : { name };
  return Array.from({ length: count }, (_, n) => {
    return { id: String(n), device: "cpu", uuid: "", memoryBytes, ...named };
  });
}
