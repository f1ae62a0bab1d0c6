import type { ManualClock } from "@trainyard/testing";
import type { Chance } from "./chance.ts";
import type { Teller } from "./teller.ts";

/** Training steps between two validations. */
const stepsPerTick = 10;

export type TrainingDeps = {
  readonly clock: ManualClock;
  readonly chance: Chance;
  readonly teller: Teller;
  /** Training steps that a trial needs. */
  readonly steps: number;
  /** Whether the log knows the run: metrics and registry refuse reports of an unknown one. */
  readonly isKnown: (trial: string, run: number) => boolean;
};

export type TrainingOf = {
  readonly trial: string;
  readonly run: number;
  readonly fromStep: number;
};

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
    const { trial, run } = this.#of;
    if (!this.#deps.isKnown(trial, run)) return;
    const scalars = { loss: 1 / this.#step + this.#deps.chance.between(0, 100) / 1_000 };
    const reportKey = `0-${this.#reports}`;
    const data = { trial, run, step: this.#step, scalars, reportKey, nonNumeric: [] };
    void this.#deps.teller.tell(`measurement-${trial}`, [{ type: "ValidationReported", data }]);
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
