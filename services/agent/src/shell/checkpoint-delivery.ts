/**
 * Has the platform declare and complete the checkpoints that an ended process left in its spool, by the rules of the SDK's
 * README ("The run's folder"): the earliest first, each settled only by an answer. To do it twice is harmless. A folder
 * that was never whole, and one that the platform will never complete, is removed: nobody else knows of it.
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import {
  type CheckpointStorageSection,
  checkpointFolder,
  checkpointRoot,
  checkpointStorage,
} from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import type { AgentEvents } from "../events.ts";
import { limits } from "../limits.ts";
import { readRunFile } from "../state/run-file.ts";
import type { RunFolder } from "../state/run-folder.ts";
import { Backoff } from "./backoff.ts";

export type CheckpointDeps = {
  readonly folder: RunFolder;
  readonly apiUrl: string;
  /** The registry's own default; empty where this host does not know it. */
  readonly checkpointDir: string;
  readonly events: AgentEvents;
};

/** What the SDK wrote of a checkpoint whose folder is whole. */
type Sealed = {
  readonly checkpoint: string;
  readonly sealedMs: number;
  readonly stepsCompleted: number;
  readonly metadata: object;
  readonly manifest: readonly { readonly bytes: number }[];
};

type Answer =
  | { readonly kind: "taken" }
  /** For good; when the platform says that it is not complete, it never will be. */
  | { readonly kind: "refused"; readonly why: string; readonly incomplete: boolean }
  | { readonly kind: "later"; readonly retryAfterMs: number; readonly why: string };

/** Under which a run's checkpoints lie on this host, by the registry's rule; null where only the registry knows. */
export function checkpointRootOf(launch: Plain<Launch>, checkpointDir: string): string | null {
  return checkpointRoot(storageOf(launch, checkpointDir));
}

function storageOf({ config }: Plain<Launch>, checkpointDir: string): CheckpointStorageSection {
  const section = config?.["checkpoint_storage"];
  const isSection = typeof section === "object" && section !== null && !Array.isArray(section);
  const configured = isSection ? (section as CheckpointStorageSection) : null;
  if (checkpointDir !== "") return checkpointStorage(configured, checkpointDir);
  return configured ?? {};
}

/** The bytes that the registry has to read before nothing is left. */
export function bytesLeft(folder: RunFolder): number {
  return sealedOf(spoolOf(folder))
    .flatMap(({ manifest }) => manifest)
    .reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Resolves when nothing is left, or when the signal aborts. What fails in an unknown way is left to the next agent. */
export async function deliverCheckpoints(deps: CheckpointDeps, signal: AbortSignal): Promise<void> {
  try {
    await deliverAll(deps, signal);
  } catch (error) {
    deps.events.checkpointsFailed(deps.folder.launch.allocation, error);
  }
}

async function deliverAll(deps: CheckpointDeps, signal: AbortSignal): Promise<void> {
  const spool = spoolOf(deps.folder);
  removeBegun(deps, spool);
  const backoff = new Backoff(signal);
  for (const sealed of sealedOf(spool)) {
    for (;;) {
      const answer = await ask(deps, sealed, signal);
      if (signal.aborted) return;
      if (answer.kind !== "later") {
        settle(deps, spool, sealed, answer);
        backoff.reset();
        break;
      }
      deps.events.checkpointsWait(answer.why);
      await backoff.wait(answer.retryAfterMs);
    }
  }
}

function spoolOf(folder: RunFolder): string {
  return join(folder.runDir, "spool", "checkpoints");
}

function namesIn(spool: string, ending: string): readonly string[] {
  // A file of that name is not the SDK's.
  if (statSync(spool, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(spool)
    .filter((name) => name.endsWith(ending))
    .map((name) => basename(name, ending));
}

function removeBegun(deps: CheckpointDeps, spool: string): void {
  const sealed = new Set(namesIn(spool, ".json"));
  for (const checkpoint of namesIn(spool, ".begun")) {
    if (!sealed.has(checkpoint)) removeFiles(deps, checkpoint);
    rmSync(join(spool, `${checkpoint}.begun`), { force: true });
  }
}

/** The folder's place follows from the launch and never from what the process wrote. */
function removeFiles({ folder, checkpointDir, events }: CheckpointDeps, checkpoint: string): void {
  const path = checkpointFolder(storageOf(folder.launch, checkpointDir), checkpoint);
  try {
    if (path !== null) rmSync(path, { recursive: true, force: true });
  } catch (error) {
    // A storage that does not let go of files must not keep the run's end from being told.
    events.checkpointNotRemoved(folder.launch.allocation, checkpoint, error);
  }
}

function sealedOf(spool: string): readonly Sealed[] {
  return namesIn(spool, ".json")
    .flatMap((checkpoint) => readSealed(join(spool, `${checkpoint}.json`), checkpoint) ?? [])
    .toSorted((a, b) => a.sealedMs - b.sealedMs);
}

/** Null for a file that is not the SDK's. */
function readSealed(path: string, checkpoint: string): Sealed | null {
  try {
    const written = readRunFile(path, limits.sealedBytesMax);
    if (!Buffer.isBuffer(written)) return null;
    const sealed = JSON.parse(written.toString("utf8")) as Sealed;
    const isWhole = Array.isArray(sealed.manifest) && Number.isFinite(sealed.sealedMs);
    return isWhole && sealed.checkpoint === checkpoint ? sealed : null;
  } catch {
    return null;
  }
}

function settle(
  deps: CheckpointDeps,
  spool: string,
  { checkpoint }: Sealed,
  answer: Exclude<Answer, { kind: "later" }>,
): void {
  const { allocation } = deps.folder.launch;
  if (answer.kind === "taken") deps.events.checkpointDelivered(allocation, checkpoint);
  else {
    deps.events.checkpointRefused(allocation, checkpoint, answer.why);
    if (answer.incomplete) removeFiles(deps, checkpoint);
  }
  rmSync(join(spool, `${checkpoint}.json`), { force: true });
}

async function ask(deps: CheckpointDeps, sealed: Sealed, signal: AbortSignal): Promise<Answer> {
  const { trial, run } = deps.folder.launch;
  const { checkpoint, stepsCompleted, metadata, manifest } = sealed;
  const checkpoints = `/api/v1/runs/${encodeURIComponent(`${trial}#${run}`)}/checkpoints`;
  const declaration = { checkpoint, stepsCompleted, metadata };
  const declared = await call(deps, signal, checkpoints, declaration);
  const answer =
    declared.kind === "taken"
      ? await call(deps, signal, `${checkpoints}/${checkpoint}/complete`, { manifest })
      : declared;
  if (answer.kind !== "refused") return answer;
  // An earlier attempt whose answer was lost may have completed it, before the run was over.
  const plan = await call(deps, signal, `/api/v1/checkpoints/${checkpoint}/plan`, null);
  if (plan.kind !== "refused") return plan;
  return { ...answer, incomplete: plan.incomplete };
}

async function call(
  { folder, apiUrl }: CheckpointDeps,
  signal: AbortSignal,
  path: string,
  message: object | null,
): Promise<Answer> {
  const authorization = `Bearer ${folder.launch.token}`;
  const json = { "content-type": "application/json", authorization };
  const sent =
    message === null
      ? { method: "GET", headers: { authorization } }
      : { method: "POST", headers: json, body: JSON.stringify(message) };
  try {
    const response = await fetch(`${apiUrl}${path}`, {
      ...sent,
      signal: AbortSignal.any([signal, AbortSignal.timeout(limits.checkpointRequestMs)]),
    });
    return answerOf(response, await response.text());
  } catch (error) {
    return {
      kind: "later",
      retryAfterMs: 0,
      why: error instanceof Error ? error.message : String(error),
    };
  }
}

function answerOf({ status, headers }: Response, text: string): Answer {
  if (status >= 200 && status < 300) return { kind: "taken" };
  const why = problemOf(text) ?? `the platform answered ${status}`;
  if (status < 500 && status !== 408 && status !== 425 && status !== 429) {
    return { kind: "refused", why, incomplete: status === 404 || status === 409 };
  }
  const seconds = Number(headers.get("retry-after"));
  const retryAfterMs = Number.isFinite(seconds) ? Math.min(seconds * 1_000, limits.retryLastMs) : 0;
  return { kind: "later", retryAfterMs, why };
}

function problemOf(text: string): string | null {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    return typeof detail === "string" ? detail : null;
  } catch {
    // Not from the gateway itself.
    return null;
  }
}
