/**
 * Checks the checkpoints that this host's runs have completed against the platform's log, after the agent's start and
 * whenever the scheduler's epoch rises: a log that went back may lack their completion. Such a checkpoint is offered
 * again. One checkpoint at a time, the latest of each run first, with a pause between two, since many agents do this at
 * the same time.
 */
import { type Clock, pause } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import { type Sealed, SealedSpool } from "../state/sealed-spool.ts";
import { standingOf } from "./checkpoint-answers.ts";
import { type CheckpointDeps, offerAgain } from "./checkpoint-delivery.ts";
import type { Run } from "./run.ts";

type Deps = Omit<CheckpointDeps, "folder" | "spool" | "tell"> & { readonly clock: Clock };

/** A stored checkpoint whose check or offer had no answer. `isOffered`: its record counts as sealed meanwhile. */
type Open = {
  readonly deps: CheckpointDeps;
  readonly stored: Sealed;
  readonly isOffered: boolean;
};

/** Runs until the signal aborts. */
export async function checkStored(
  deps: Deps,
  runs: () => Iterable<Run>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const risen = deps.epochs.next(signal);
    let open = [...runs()].flatMap((run) => storedOf(deps, run));
    while (open.length > 0 && !signal.aborted) {
      open = await checkEach(open, signal);
      if (open.length > 0) await pause(deps.clock, limits.refusedAgainMs, signal);
    }
    await risen;
  }
}

function storedOf(deps: Deps, { folder }: Run): readonly Open[] {
  const spool = new SealedSpool(folder.runDir);
  const own = { ...deps, folder, spool, tell: (): void => {} };
  try {
    return spool.stored().map((stored) => ({ deps: own, stored, isOffered: false }));
  } catch (error) {
    deps.events.checkpointsFailed(folder.launch.allocation, error);
    return [];
  }
}

/** Returns those that need another attempt. */
async function checkEach(all: readonly Open[], signal: AbortSignal): Promise<Open[]> {
  const open: Open[] = [];
  for (const one of all) {
    if (signal.aborted) break;
    const { folder, events, clock } = one.deps;
    try {
      const left = await check(one, signal);
      if (left !== null) open.push(left);
    } catch (error) {
      // The folder may have been removed meanwhile.
      events.checkpointsFailed(folder.launch.allocation, error);
    }
    await pause(clock, limits.storedCheckGapMs, signal);
  }
  return open;
}

/** Null if the checkpoint needs no further attempt. */
async function check(one: Open, signal: AbortSignal): Promise<Open | null> {
  const { deps, stored, isOffered } = one;
  const asked = { launch: deps.folder.launch, apiUrl: deps.apiUrl };
  const standing = await standingOf(asked, stored.checkpoint, signal);
  switch (standing.kind) {
    case "complete":
      // The answer to an offer may have been lost.
      if (isOffered) deps.spool.settleAsStored(stored);
      return null;
    case "known":
      return null;
    case "lost":
      // The next rise of the epoch repeats the check.
      return null;
    case "later":
      return one;
    case "incomplete":
    case "unknown":
      deps.events.offeredAgain(deps.folder.launch.allocation, stored.checkpoint);
      return (await offerAgain(deps, stored, signal)) === null ? null : { ...one, isOffered: true };
  }
}
