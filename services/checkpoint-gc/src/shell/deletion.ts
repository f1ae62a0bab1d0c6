/**
 * What follows a condemnation: once the grace is over everything is looked at again, and the checkpoint is spared or its
 * deletion starts; what is being deleted is removed, and then recorded as gone. All of it follows from the state, so that
 * after a crash the same is done again, whichever step it interrupted.
 */
import { removeCheckpointFolder } from "@trainyard/blob";
import { type EventLog, newEventId } from "@trainyard/event-log";
import {
  assert,
  type Clock,
  type Fault,
  isFault,
  isRejection,
  parseTrialId,
} from "@trainyard/kernel";
import { EffectLoop, type Executor, foldOf, type Logger, type Work } from "@trainyard/runtime";
import { condemned } from "../core/policy/condemned.ts";
import { gcLimits } from "../limits.ts";
import type { CheckpointIndex } from "./index-view.ts";
import { needOf } from "./needs.ts";
import { checkpoints, experiments, retentions } from "./streams.ts";

export type DeletionDeps = {
  readonly executor: Executor;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
};

const meta = {
  source: "/trainyard/checkpoint-gc",
  workspace: "",
  correlationid: "",
  causationid: "",
  authid: "",
  traceparent: "",
};

export class Deletion {
  readonly #deps: DeletionDeps;
  readonly #index: CheckpointIndex;
  readonly loop: EffectLoop;

  constructor(deps: DeletionDeps, index: CheckpointIndex) {
    this.#deps = deps;
    this.#index = index;
    this.loop = new EffectLoop("deletion", deps, () => this.#step());
  }

  /** Gives the milliseconds until the next grace ends; 0 when there is more to do already. */
  async #step(): Promise<number | null> {
    const { log, clock } = this.#deps;
    // A run that was requested before its checkpoint was condemned is in the index then.
    await this.#index.view.reach(await log.head());
    const due = await this.#index.due(clock.nowMs());
    await each(due, (checkpoint) => this.#settle(checkpoint));
    await this.#index.view.reach(await log.head());
    const deleting = await this.#index.deleting();
    await each(deleting, (checkpoint) => this.#delete(checkpoint));
    if (Math.max(due.length, deleting.length) === gcLimits.page) return 0;
    const next = await this.#index.nextDueMs();
    if (next === null) return null;
    return Math.min(Math.max(next - clock.nowMs(), 0), gcLimits.lookAgainMs);
  }

  #settle(checkpoint: string): Promise<void> {
    return this.#execute(async (work) => {
      const { status } = await work.load(foldOf(retentions), checkpoint);
      if (status !== "condemned") return;
      const need = await this.#needNow(work, checkpoint);
      const command =
        need === null
          ? ({ kind: "start_deletion", atMs: this.#deps.clock.nowMs() } as const)
          : ({ kind: "spare", reason: need } as const);
      const decided = await work.decide(retentions, checkpoint, command);
      assert(!isRejection(decided), `the grace of checkpoint ${checkpoint} is over`);
    });
  }

  /** Why it is to be kept after all; null when it is not. */
  async #needNow(work: Work, checkpoint: string): Promise<string | null> {
    const need = await needOf(work, this.#index, checkpoint);
    if (need !== null) return need;
    const { trial } = await work.load(checkpoints, checkpoint);
    const experiment = parseTrialId(trial)?.experiment;
    assert(experiment !== undefined, `checkpoint ${checkpoint} is a trial's`);
    const facts = await work.guard(experiments, experiment);
    if (!facts.ended) return `experiment ${experiment} goes on`;
    const candidates = await this.#index.candidates(experiment, facts.metric);
    // Validations may have come in since: those that an ended run's agent still held.
    const given = condemned(candidates, facts.policy, facts.smallerIsBetter);
    return given.has(checkpoint) ? null : "it ranks among those to keep by now";
  }

  async #delete(checkpoint: string): Promise<void> {
    const { executor } = this.#deps;
    const { state } = await executor.cache.load(checkpoints, checkpoint);
    await removeCheckpointFolder(state.storage, checkpoint);
    const { files, bytes } = state;
    await this.#execute(async (work) => {
      const command = { kind: "record_deletion", files, bytes } as const;
      const decided = await work.decide(retentions, checkpoint, command);
      assert(!isRejection(decided), `the deletion of checkpoint ${checkpoint} had started`);
    });
  }

  async #execute(handler: (work: Work) => Promise<void>): Promise<void> {
    await this.#deps.executor.execute({ commitId: newEventId(), meta }, handler);
  }
}

/** One that has to wait, for its storage perhaps, does not hold up the others; its fault is thrown at the end. */
async function each(
  names: readonly string[],
  step: (name: string) => Promise<void>,
): Promise<void> {
  let first: Fault | null = null;
  for (const name of names) {
    try {
      await step(name);
    } catch (error) {
      if (!isFault(error) || error.code === "lease_lost") throw error;
      first ??= error;
    }
  }
  if (first !== null) throw first;
}
