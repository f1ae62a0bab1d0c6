/**
 * The trials whose next run waits for checkpoints of the last run, and until when. When a wait is over, the trial is
 * advanced, and its next run starts from a complete checkpoint.
 */
import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import { type EventLog, newEventId, type StoredEvent } from "@trainyard/event-log";
import {
  type Check,
  type DueDeps,
  DueFold,
  type DueFoldSpec,
  foldOf,
  foldOfDues,
  logFoldCheck,
  type Logger,
  serviceMeta,
  streamEvents,
} from "@trainyard/runtime";
import type { TryDelays } from "../core/trial/tries.ts";
import { advance, type Waits } from "./advance.ts";
import { trials } from "../streams.ts";

export const awaitingFold: DueFoldSpec = {
  stream: "trial-awaiting",
  schema: "awaiting-trials/2",
  what: "the trials that wait",
  category: "trial",
  dueOf: (stored, knownMs) => {
    switch (shortNameOf(stored.type)) {
      case "RunEnded":
      case "RunCheckpointsNamed":
      case "TrialContinued":
        return waitOf(stored, knownMs);
      case "RunRequested":
      case "TrialEnded":
        return null;
      default:
        return undefined;
    }
  },
};

function waitOf(stored: StoredEvent, knownMs: number): number | undefined {
  const { data } = decodeEvent(stored);
  const awaitedUntilMs = "awaitedUntilMs" in data ? (data.awaitedUntilMs ?? 0) : 0;
  return awaitedUntilMs === 0 ? undefined : Math.max(awaitedUntilMs, knownMs);
}

type AwaitingDeps = DueDeps & { readonly delays: TryDelays };

export class Awaiting implements Waits {
  readonly delays: TryDelays;
  readonly dues: DueFold;
  readonly #deps: DueDeps;

  private constructor(deps: AwaitingDeps, dues: DueFold) {
    this.delays = deps.delays;
    this.dues = dues;
    this.#deps = deps;
  }

  static async open(deps: AwaitingDeps): Promise<Awaiting> {
    const act = (trial: string) => awaiting.#advance(trial);
    const spec = { name: "awaiting", service: "experiments", lane: 1, act };
    const awaiting: Awaiting = new Awaiting(deps, await DueFold.open(awaitingFold, spec, deps));
    return awaiting;
  }

  trials(): Iterable<string> {
    return this.dues.ids();
  }

  isOver(trial: string, untilMs: number): boolean {
    return this.dues.loop.isOver(trial, untilMs);
  }

  /** If the trial still has no run afterwards, for example during a pause, it is not retried by time. */
  async #advance(trial: string): Promise<null> {
    const { executor } = this.#deps;
    const identity = { commitId: newEventId(), meta: serviceMeta("experiments") };
    await executor.execute(identity, (work) => advance(work, trial, this));
    const { state } = await executor.cache.load(foldOf(trials), trial);
    // Older events may name a wait of an ended trial.
    if (state.status === "ended") this.dues.drop(trial);
    return null;
  }
}

/** Compares the saved waits with a rebuild, in which an ended trial may wait: the leader drops it at its time. */
export function awaitingCheck(log: EventLog, logger: Logger): Check {
  const mayLack = async (trial: string): Promise<boolean> => {
    for await (const { type } of streamEvents(log, `trial-${trial}`)) {
      if (shortNameOf(type) === "TrialEnded") return true;
    }
    return false;
  };
  const fold = foldOfDues(awaitingFold);
  return logFoldCheck({ name: "experiments.awaiting-trials", fold, log, logger, mayLack });
}
