/**
 * Checks the checkpoints that this host's runs have completed against the platform's log, after the agent's start and
 * whenever the scheduler's epoch rises: a log that went back may lack their completion. Such a checkpoint is offered
 * again. A pass checks one checkpoint at a time, the newest of all runs first, since those are what a rewind loses. It
 * pauses between two, since many agents do this at the same time. A rise during a pass begins the next one.
 */
import { setImmediate } from "node:timers/promises";
import { type Clock, pause } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import { type Later, standingOf } from "./checkpoint-answers.ts";
import { type CheckpointDeps, offerAgain } from "./checkpoint-delivery.ts";
import type { Run } from "./run.ts";

type Deps = Omit<CheckpointDeps, "folder" | "spool" | "tell"> & { readonly clock: Clock };

type CheckedRun = Pick<Run, "folder" | "spool">;

type Entry = { readonly run: CheckedRun; readonly checkpoint: string; readonly atMs: number };

/** `lost`: no other checkpoint of the run needs a check either. */
type Outcome = "done" | "lost" | Later;

/** Runs until the signal aborts. */
export async function checkStored(
  deps: Deps,
  runs: () => Iterable<CheckedRun>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const rise = new AbortController();
    const risen = deps.epochs.next(signal).then(() => rise.abort());
    await new Pass(deps, await newest(deps, runs()), signal, rise.signal).run();
    await risen;
  }
}

async function newest(deps: Deps, runs: Iterable<CheckedRun>): Promise<Entry[]> {
  let entries: Entry[] = [];
  for (const run of runs) {
    entries = [...entries, ...storedOf(deps, run)]
      .toSorted((a, b) => b.atMs - a.atMs)
      .slice(0, limits.storedChecksMax);
    // A host may keep hundreds of folders, and runs may have filled them.
    await setImmediate();
  }
  return entries;
}

function storedOf({ events }: Deps, run: CheckedRun): readonly Entry[] {
  try {
    return run.spool.stored().map((stored) => ({ run, ...stored }));
  } catch (error) {
    events.checkpointsFailed(run.folder.launch.allocation, error);
    return [];
  }
}

class Pass {
  readonly #deps: Deps;
  readonly #signal: AbortSignal;
  /** Aborts when the epoch rises, and at the latest with the signal above. */
  readonly #over: AbortSignal;
  #left: readonly Entry[];
  /** The times before which a checkpoint, or a run's checkpoints, are not asked for again. */
  readonly #waits = new Map<Entry | CheckedRun, number>();
  /** The checks that had an answer. */
  #checks = 0;

  constructor(deps: Deps, entries: readonly Entry[], signal: AbortSignal, over: AbortSignal) {
    this.#deps = deps;
    this.#left = entries;
    this.#signal = signal;
    this.#over = over;
  }

  async run(): Promise<void> {
    const { clock } = this.#deps;
    while (this.#left.length > 0 && !this.#over.aborted) {
      const nowMs = clock.monotonicMs();
      const entry = this.#left.find((one) => this.#dueMs(one) <= nowMs);
      if (entry !== undefined) await this.#take(entry);
      const isFirst = this.#checks < limits.storedChecksFirst;
      const gapMs = isFirst ? limits.storedCheckGapFirstMs : limits.storedCheckGapMs;
      await pause(clock, gapMs, this.#over);
    }
  }

  #dueMs(entry: Entry): number {
    return Math.max(this.#waits.get(entry) ?? 0, this.#waits.get(entry.run) ?? 0);
  }

  async #take(entry: Entry): Promise<void> {
    const { clock, events } = this.#deps;
    const { run } = entry;
    try {
      const outcome = await this.#check(entry);
      if (typeof outcome === "object") {
        // A platform that is unavailable for one checkpoint is so for all of the run.
        const waiting = outcome.alone ? entry : run;
        this.#waits.set(waiting, clock.monotonicMs() + limits.refusedAgainMs);
        return;
      }
      this.#checks += 1;
      const isGone = (one: Entry): boolean =>
        outcome === "lost" ? one.run === run : one === entry;
      // A sealed record counts as the only copy, and nobody else settles this one.
      for (const one of this.#left.filter(isGone)) {
        if (run.spool.isOfferedAgain(one.checkpoint)) run.spool.settle(one.checkpoint);
      }
      this.#left = this.#left.filter((one) => !isGone(one));
    } catch (error) {
      // The folder may have been removed meanwhile.
      events.checkpointsFailed(run.folder.launch.allocation, error);
      this.#left = this.#left.filter((one) => one !== entry);
    }
  }

  async #check({ run, checkpoint }: Entry): Promise<Outcome> {
    const { folder, spool } = run;
    const asked = { launch: folder.launch, apiUrl: this.#deps.apiUrl };
    const standing = await standingOf(asked, checkpoint, this.#signal);
    switch (standing.kind) {
      case "complete":
      case "known":
        return "done";
      case "lost":
        // The next rise of the epoch repeats the check.
        return "lost";
      case "later":
        // A refusal of the run itself does not pass soon.
        return standing.refusesCaller === true ? "done" : standing;
      case "incomplete":
      case "unknown": {
        const own = { ...this.#deps, folder, spool, tell: (): void => {} };
        if (!spool.isOfferedAgain(checkpoint)) {
          this.#deps.events.offeredAgain(folder.launch.allocation, checkpoint);
        }
        const answer = await offerAgain(own, checkpoint, this.#signal);
        if (answer?.kind === "lost") return "lost";
        return answer?.kind === "later" ? answer : "done";
      }
    }
  }
}
