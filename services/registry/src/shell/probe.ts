/** Probes an object store before an experiment that stores its checkpoints there is created. */
import type { Plain } from "@trainyard/contracts";
import type { ProbeStorage, StorageProbe } from "@trainyard/contracts/commands";
import { isFault, type Rejection, reject } from "@trainyard/kernel";
import { probeObjectStore } from "@trainyard/blob/objects";
import type { CommandDeps } from "./commands.ts";

export async function probeStorage(
  { stores, brake }: Pick<CommandDeps, "stores" | "brake">,
  { storage }: Plain<ProbeStorage>,
): Promise<Plain<StorageProbe> | Rejection> {
  try {
    const store = await stores.of(storage ?? {});
    if (store === null) return reject("storage_unsupported", "the storage is not an object store");
    const { problems } = await brake.ask(store, () => probeObjectStore(store));
    return { problems: problems.map(({ detail }) => detail) };
  } catch (error) {
    // A missing bucket or missing credentials: retrying does not help.
    if (isFault(error) && error.retry === "never") return { problems: [error.message] };
    throw error;
  }
}
