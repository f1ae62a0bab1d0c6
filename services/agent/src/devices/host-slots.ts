/** Slots that no program lists: they are as many as the settings say, and never change. */
import { cpus, totalmem } from "node:os";
import type { Plain } from "@trainyard/contracts";
import type { Slot } from "@trainyard/contracts/events";
import { storableText } from "@trainyard/kernel";
import { limits } from "../limits.ts";

/** The memory of the host is divided among them, for people to see; nothing enforces it. */
export function cpuSlots(count: number): readonly Plain<Slot>[] {
  const model = storableText(cpus()[0]?.model.trim() ?? "", limits.deviceLineCharsMax);
  return slots(count, model);
}

/** Stand for devices that are not there, to try out scheduling. What runs on them runs on the CPU. */
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
