/** Verifies a checkpoint again at a person's request, and records the result on its stream. */
import { checkpointFolder, checkpointRoot, globMatcher } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { Verification } from "@trainyard/contracts/commands";
import {
  assert,
  type Clock,
  Fault,
  isCheckpointId,
  isRejection,
  type Rejection,
  reject,
  streamName,
} from "@trainyard/kernel";
import { type CommandContext, foldOf } from "@trainyard/runtime";
import { bytesOf, type Manifest } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";
import type { CommandDeps } from "./commands.ts";
import type { Inspection } from "./inspect-files.ts";
import type { Declared } from "../core/checkpoint/state.ts";
import { storageOf } from "./storages.ts";
import { checkpoints, retentions } from "../streams.ts";
import type { Place } from "./verify.ts";

/** The running inspections. Concurrent requests for one checkpoint share an inspection. */
export class Inspector {
  readonly #read: (place: Place, manifest: Manifest) => Promise<Inspection>;
  readonly #clock: Clock;
  readonly #running = new Map<string, Promise<Inspection>>();

  constructor(read: (place: Place, manifest: Manifest) => Promise<Inspection>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** Returns the finding; null while the inspection is running, for a caller that retries. */
  async inspect(checkpoint: string, place: Place, manifest: Manifest): Promise<Inspection | null> {
    const running = this.#running.get(checkpoint) ?? this.#read(place, manifest);
    running.catch(() => this.#running.delete(checkpoint));
    this.#running.set(checkpoint, running);
    const [oldest] = this.#running.keys();
    if (this.#running.size > registryLimits.verificationsRememberedMax && oldest !== undefined) {
      this.#running.delete(oldest);
    }
    const late = Promise.withResolvers<null>();
    using _timer = this.#clock.timer(registryLimits.verifyWaitMs, () => late.resolve(null));
    const found = await Promise.race([running, late.promise]);
    if (found !== null) this.#running.delete(checkpoint);
    return found;
  }
}

export async function verifyCheckpoint(
  { executor, manifests, inspector, stores, disk }: CommandDeps,
  checkpoint: string,
  { identity }: CommandContext,
): Promise<Plain<Verification> | Rejection> {
  const unknown = reject("checkpoint_not_found", `there is no checkpoint ${checkpoint}`);
  if (!isCheckpointId(checkpoint)) return unknown;
  const { state } = await executor.cache.load(foldOf(checkpoints), checkpoint);
  const { declared, status, manifestDigest } = state;
  if (declared === null) return unknown;
  if (status !== "completed") {
    return reject("checkpoint_not_complete", `checkpoint ${checkpoint} is not complete`);
  }
  executor.cache.forget(streamName("retention", checkpoint));
  const { deleted, globs } = (await executor.cache.load(retentions, checkpoint)).state;
  if (deleted) return reject("checkpoint_deleted", `checkpoint ${checkpoint} was deleted`);
  const isGone = globMatcher(globs);
  const manifest = (await manifests.get(checkpoint, manifestDigest)).filter(
    ({ path }) => !isGone(path),
  );
  const place = await placeOf({ executor, stores, disk }, checkpoint, declared);
  const found = await inspector.inspect(checkpoint, place, manifest);
  const files = manifest.length;
  const none = { problems: [], count: 0, extras: [], extraCount: 0 };
  const answer = { checkpoint, files, bytes: bytesOf(manifest), ...none };
  if (found === null) return { ...answer, done: false };
  if (found.kind === "unreadable") {
    const told = `checkpoint ${checkpoint} cannot be read: ${found.detail}`;
    throw new Fault("storage_unreadable", told, { retry: "later" });
  }
  const { problems, count, extras, extraCount } = found;
  const damage =
    count === 0 ? null : { problems: problems.slice(0, registryLimits.problemsToldMax), count };
  const result = await executor.execute(identity, async (work) => {
    if ((await work.guard(retentions, checkpoint)).deleted) {
      return reject("checkpoint_deleted", `checkpoint ${checkpoint} was deleted`);
    }
    const { authid: by } = identity.meta;
    const decided = await work.decide(checkpoints, checkpoint, { kind: "note_damage", damage, by });
    return isRejection(decided) ? decided : undefined;
  });
  if (isRejection(result)) return result;
  const findings = { problems: [...problems], count, extras: [...extras], extraCount };
  return { ...answer, done: true, ...findings };
}

async function placeOf(
  { executor, stores, disk }: Pick<CommandDeps, "executor" | "stores" | "disk">,
  checkpoint: string,
  declared: Declared,
): Promise<Place> {
  const storage = declared.storage ?? {};
  const storageId = await storageOf(executor, declared);
  const store = await stores.of(storage);
  if (store !== null) {
    return { store, section: storage, checkpoint, entries: [], storageId };
  }
  const root = checkpointRoot(storage);
  const folder = checkpointFolder(storage, checkpoint);
  const isDirectory = root !== null && folder !== null;
  assert(isDirectory, `checkpoint ${checkpoint} was declared with a directory`);
  // A caller that joins a running inspection thus learns that the storage does not answer.
  await disk.seen(root);
  return { folder, storageId };
}
