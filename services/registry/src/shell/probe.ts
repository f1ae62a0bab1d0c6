/** Probes a storage before an experiment that stores its checkpoints there is created. */
import { type CheckpointStorageSection, checkpointStorage, markedPlace } from "@trainyard/blob";
import { probeObjectStore } from "@trainyard/blob/objects";
import type { Plain } from "@trainyard/contracts";
import type { ProbeStorage, StorageProbe } from "@trainyard/contracts/commands";
import { isFault, type Rejection } from "@trainyard/kernel";
import { registryLimits } from "../limits.ts";
import type { CommandDeps } from "./commands.ts";

const neverAborts = new AbortController().signal;

type Deps = Pick<CommandDeps, "stores" | "brake" | "disk" | "claims" | "checkpointDir">;

export async function probeStorage(
  deps: Deps,
  { storage }: Plain<ProbeStorage>,
): Promise<Plain<StorageProbe> | Rejection> {
  const { stores, brake, disk, claims, checkpointDir } = deps;
  const section = checkpointStorage(storage ?? null, checkpointDir);
  try {
    const store = await stores.of(section);
    if (store === null) return { problems: await problemsOfDirectory(deps, section) };
    const place = markedPlace(section, store, disk);
    const limit = { ms: registryLimits.probeMs, signal: neverAborts };
    const { problems } = await brake.ask(store, () => probeObjectStore(store), limit);
    const told = problems.map(({ detail }) => detail);
    if (told.length > 0) return { problems: told };
    const another = await brake.ask(store, () => anothers(claims, place), limit);
    return { problems: another === null ? [] : [another] };
  } catch (error) {
    // A missing bucket, missing credentials, or a store that does not answer: the person who submits has to know it
    // now, and a client would repeat an answer that says "later" for a minute.
    const isOfStore = isFault(error) && (error.retry === "never" || error.code === "storage_away");
    if (isOfStore) return { problems: [error.message] };
    throw error;
  }
}

/** A directory is judged only by its marker, and only if this host sees it: the writing hosts may see another. */
async function problemsOfDirectory(
  { disk, claims }: Deps,
  section: CheckpointStorageSection,
): Promise<string[]> {
  const place = markedPlace(section, null, disk);
  if (place.name === "") return [];
  try {
    const problem = await anothers(claims, place);
    return problem === null ? [] : [problem];
  } catch (error) {
    if (!isFault(error)) throw error;
    return [];
  }
}

async function anothers(
  claims: CommandDeps["claims"],
  place: ReturnType<typeof markedPlace>,
): Promise<string | null> {
  return claims.anotherLog(place.name, await place.seen());
}
