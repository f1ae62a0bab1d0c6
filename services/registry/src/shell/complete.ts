/**
 * Completes a checkpoint: checks that it may complete, compares every file with the manifest, stores the manifest, and
 * then decides. The decision is guarded by the stream of the trial or the task, so a run that was superseded in the
 * meantime completes nothing.
 */
import { createHash } from "node:crypto";
import { checkpointFolder, checkpointRoot } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { Accepted, CompleteCheckpoint } from "@trainyard/contracts/commands";
import { assert, isRejection, type Rejection, reject, streamName } from "@trainyard/kernel";
import { accepted, type CommandContext } from "@trainyard/runtime";
import type { ManifestSummary } from "../core/checkpoint/commands.ts";
import { checkpointDecider } from "../core/checkpoint/decide.ts";
import { refusalOf } from "../core/foreign/trial.ts";
import { makerOf } from "../core/maker.ts";
import { bytesOf, canonicalText, type Manifest, readManifest } from "../core/manifest.ts";
import type { CommandDeps } from "./commands.ts";
import { refusalOfFolder } from "./folder-owner.ts";
import { storageOf } from "./storages.ts";
import { checkpoints, runsOf } from "../streams.ts";
import { ownCheckpoint, refusalOfRun, unlessHeld } from "./open-checkpoint.ts";
import type { Place } from "./verify.ts";

export async function completeCheckpoint(
  deps: CommandDeps,
  request: Plain<CompleteCheckpoint>,
  { identity }: CommandContext,
): Promise<Plain<Accepted> | Rejection> {
  const { checkpoint } = request;
  const manifest = readManifest(request.manifest);
  if (isRejection(manifest)) return manifest;
  const summary = summaryOf(manifest);
  const looked = await look(deps, request, summary, identity.meta.authid);
  if (looked === "complete") return { position: 0, stream: streamName("checkpoint", checkpoint) };
  if (isRejection(looked)) return looked;
  const verdict = await deps.verifier.verify(looked, manifest, summary.digest);
  if (verdict.kind === "differs") {
    const reason = `the file ${JSON.stringify(verdict.path)} ${verdict.detail}`;
    await deps.executor.execute(identity, async (work) => {
      await work.decide(checkpoints, checkpoint, { kind: "fail", reason });
    });
    deps.events.refused(checkpoint, reason);
    const problem = { path: verdict.path, detail: verdict.detail };
    return reject("checkpoint_incomplete", reason, [problem]);
  }
  await deps.manifests.put(checkpoint, summary.digest, manifest);
  const result = await deps.executor.execute(identity, async (work) => {
    if (makerOf(request) !== "") {
      const { fold, id } = runsOf(request);
      const runs = await work.guard(fold, id);
      const refusal = await unlessHeld(deps.hold, refusalOf(runs, request, checkpoint));
      if (refusal !== null) return refusal;
    }
    const decided = await work.decide(checkpoints, checkpoint, {
      kind: "complete",
      manifest: summary,
    });
    return isRejection(decided) ? decided : undefined;
  });
  if (!isRejection(result)) {
    deps.events.completed(checkpoint, summary.files, summary.bytes);
    deps.renewals.completed(looked);
  }
  return accepted(result);
}

function summaryOf(manifest: Manifest): ManifestSummary {
  const digest = createHash("sha256").update(canonicalText(manifest)).digest("hex");
  return { digest, files: manifest.length, bytes: bytesOf(manifest) };
}

/** Checks whether the checkpoint may complete at all, before the storage is read. */
async function look(
  deps: CommandDeps,
  request: Plain<CompleteCheckpoint>,
  manifest: ManifestSummary,
  by: string,
): Promise<Rejection | "complete" | Place> {
  const { checkpoint } = request;
  const own = await ownCheckpoint(deps, request, by);
  if (isRejection(own)) return own;
  const { state, declared } = own;
  const decided = checkpointDecider.decide(state, { kind: "complete", manifest });
  if (isRejection(decided)) return decided;
  if (decided.length === 0) return "complete";
  const refusal = await refusalOfRun(deps, request);
  if (refusal !== null) return refusal;
  const storage = declared.storage ?? {};
  const storageId = await storageOf(deps.executor, declared);
  const store = await deps.stores.of(storage);
  if (store !== null) {
    deps.brake.check(store);
    const { manifest: entries } = request;
    return { store, section: storage, checkpoint, entries, storageId };
  }
  const root = checkpointRoot(storage);
  const folder = checkpointFolder(storage, checkpoint);
  assert(root !== null && folder !== null, `checkpoint ${checkpoint} has a directory`);
  // A caller that joins a running verification thus learns that the storage does not answer.
  await deps.disk.seen(root);
  const foreign = await refusalOfFolder(deps, root, request);
  if (foreign !== null) return foreign;
  return { folder, storageId };
}
