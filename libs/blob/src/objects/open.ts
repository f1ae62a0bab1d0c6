import { Fault } from "@trainyard/kernel";
import type { CheckpointStorageSection } from "../checkpoint-folder.ts";
import type { ObjectStore } from "./port.ts";

export async function openObjectStore(storage: CheckpointStorageSection): Promise<ObjectStore> {
  throw new Fault("storage_unsupported", `no ${String(storage["type"])}`, { retry: "never" });
}
