import type { EventData } from "@trainyard/contracts";
import { isFault } from "@trainyard/kernel";
import type { RunGrants, RunTokenContent } from "@trainyard/runtime";
import type { ManualClock } from "@trainyard/testing";
import type { Chance } from "./chance.ts";
import type { Teller } from "./teller.ts";

/** Training steps between two validations. */
const stepsPerTick = 10;
/** The wait before a report that was not accepted is sent again, and the attempts until the run's folder is gone. */
const retryMs = 2_000;
const attemptsMax = 100;

export type TrainingDeps = {
  readonly clock: ManualClock;
  readonly chance: Chance;
  readonly teller: Teller;
  /** Training steps that a trial needs. */
  readonly steps: number;
  /** Whether the log knows the run: metrics and registry refuse reports of an unknown one. */
  readonly isKnown: (trial: string, run: number) => boolean;
  /** The grants in the log, as the metrics service knows them. */
  readonly grants: RunGrants;
};

export type TrainingOf = {
  readonly trial: string;
  readonly run: number;
  readonly fromStep: number;
  /** The grant that the run's token names; null for a run of the model, which has no token. */
  readonly grant: RunTokenContent | null;
};

/** The key of a report names its reporter, which the rules compare with the log. */
export function reportKeyOf(number: number, grant: RunTokenContent | null): string {
  return grant === null ? `0-${number}` : `0-${number} by ${grant.grantId}`;
}

/** A script as metrics and registry see it: it validates regularly and stores checkpoints at random. */
export class Training {
  readonly #deps: TrainingDeps;
  readonly #of: TrainingOf;
  #step: number;
  #reports = 0;

  constructor(of: TrainingOf, deps: TrainingDeps) {
    this.#of = of;
    this.#deps = deps;
    this.#step = of.fromStep;
  }

  get begins(): boolean {
    return this.#of.run === 1 && this.#step === 0;
  }

  get isDone(): boolean {
    return this.#step >= this.#deps.steps;
  }

  advance(): void {
    this.#step += stepsPerTick;
    this.#report();
    if (this.#deps.chance.happens(0.5)) this.#checkpoint();
  }

  #report(): void {
    this.#reports += 1;
    const { trial, run, grant } = this.#of;
    const { chance, clock } = this.#deps;
    const scalars = { loss: 1 / this.#step + chance.between(0, 100) / 1_000 };
    const reportKey = reportKeyOf(this.#reports, grant);
    const data = { trial, run, step: this.#step, scalars, reportKey, nonNumeric: [] };
    // Some reports wait in the run's folder, also longer than the run lives.
    if (grant === null || !chance.happens(0.2)) void this.#deliver(data);
    else clock.timer(chance.between(1_000, 40_000), () => void this.#deliver(data));
  }

  /** Delivers a report as sender and metrics service do: a lost run's is refused for good. */
  async #deliver(data: EventData<"ValidationReported">, attempt = 1): Promise<void> {
    const { isKnown, teller, clock, grants } = this.#deps;
    const { trial, run, grant } = this.#of;
    const state = grant === null ? "held" : await grants.stateOf(grant);
    if (state === "lost") return;
    if (state === "held" && isKnown(trial, run)) {
      const event = { type: "ValidationReported", data } as const;
      const seen = grant && { position: grant.grantPosition, id: grant.grantId };
      try {
        await teller.tell(`measurement-${trial}`, [event], {}, seen ?? undefined);
        return;
      } catch (error) {
        if (!isFault(error) || error.code !== "log_rewound") throw error;
      }
    }
    if (grant === null || attempt === attemptsMax) return;
    clock.timer(retryMs, () => void this.#deliver(data, attempt + 1));
  }

  /** The checkpoint completes after a while, perhaps after the run has ended and another has begun. */
  #checkpoint(): void {
    const { chance, teller, clock } = this.#deps;
    const hex = (digits: number) =>
      chance.between(16 ** (digits - 1), 16 ** digits - 1).toString(16);
    const stream = `checkpoint-${hex(8)}-${hex(4)}-4000-8000-${hex(6)}${hex(6)}`;
    const about = { trial: this.#of.trial, run: this.#of.run, step: this.#step };
    clock.timer(chance.between(0, 1_500), () => {
      if (!this.#deps.isKnown(about.trial, about.run)) return;
      const bytes = { manifestDigest: "d", files: 1, bytes: 1 };
      void teller.tell(stream, [
        { type: "CheckpointDeclared", data: { ...about, format: "" } },
        { type: "CheckpointCompleted", data: { ...about, ...bytes } },
      ]);
    });
  }
}
