/** Probes an object store before an experiment that stores its checkpoints there is created. */
import type { Plain } from "@trainyard/contracts";
import type { ProbeStorage, StorageProbe } from "@trainyard/contracts/commands";
import { isFault, type Rejection, reject } from "@trainyard/kernel";
import { probeObjectStore } from "@trainyard/blob/objects";
import { registryLimits } from "../limits.ts";
import type { CommandDeps } from "./commands.ts";

const neverAborts = new AbortController().signal;

export async function probeStorage(
  { stores, brake }: Pick<CommandDeps, "stores" | "brake">,
  { storage }: Plain<ProbeStorage>,
): Promise<Plain<StorageProbe> | Rejection> {
  try {
    const store = await stores.of(storage ?? {});
    if (store === null) return reject("storage_unsupported", "the storage is not an object store");
    const limit = { ms: registryLimits.probeMs, signal: neverAborts };
    const { problems } = await brake.ask(store, () => probeObjectStore(store), limit);
    return { problems: problems.map(({ detail }) => detail) };
  } catch (error) {
    // A missing bucket, missing credentials, or a store that does not answer: the person who submits has to know it
    // now, and a client would repeat an answer that says "later" for a minute.
    const isOfStore = isFault(error) && (error.retry === "never" || error.code === "storage_away");
    if (isOfStore) return { problems: [error.message] };
    throw error;
  }
}
