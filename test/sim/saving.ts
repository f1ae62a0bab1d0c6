/**
 * The saves of a task's folder as the agent and the registry make them: some while the run works, one after its end.
 * The end is reported before that one is complete, and names it.
 */
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import { recordedTask } from "@trainyard/experiment-config/recorded";
import type { TrainingDeps } from "./training.ts";

type SavingDeps = Pick<TrainingDeps, "clock" | "chance" | "teller" | "isKnown">;

/** Saves of a run are numbered from here, so that later runs have larger numbers. */
const numbersEach = 1_000_000;

export class Saving {
  readonly #deps: SavingDeps;
  readonly #task: string;
  readonly #run: number;
  #saves = 0;

  private constructor(task: string, run: number, deps: SavingDeps) {
    this.#deps = deps;
    this.#task = task;
    this.#run = run;
  }

  /** The saves of a launched run; null if its task keeps nothing. */
  static of({ task, run, config }: Plain<Launch>, deps: SavingDeps): Saving | null {
    if (task === undefined) return null;
    const { keepsWork } = recordedTask(JSON.parse(config), task.kind);
    return keepsWork ? new Saving(task.id, run, deps) : null;
  }

  /** Saves the folder while the run works, or not. */
  work(): void {
    if (this.#deps.chance.happens(0.5)) this.#deliver(1_500);
  }

  /** Returns the save that the ended run has left, which is delivered afterwards; none if nothing has changed. */
  end() {
    if (this.#deps.chance.happens(0.3)) return [];
    return [{ ...this.#deliver(20_000), bytes: 1 }];
  }

  /** The save completes after a while, or fails. */
  #deliver(withinMs: number): { readonly checkpoint: string; readonly step: number } {
    const { chance, clock, teller, isKnown } = this.#deps;
    this.#saves += 1;
    const hex = (digits: number) =>
      chance.between(16 ** (digits - 1), 16 ** digits - 1).toString(16);
    const checkpoint = `${hex(8)}-${hex(4)}-4000-8000-${hex(6)}${hex(6)}`;
    const step = this.#run * numbersEach + this.#saves;
    const about = { trial: "", task: this.#task, run: this.#run, step };
    const fails = chance.happens(0.1);
    clock.timer(chance.between(0, withinMs), () => {
      if (!isKnown(this.#task, this.#run)) return;
      const bytes = { manifestDigest: "d", files: 1, bytes: 1 };
      void teller.tell(`checkpoint-${checkpoint}`, [
        { type: "CheckpointDeclared", data: { ...about, format: "trainyard-work/1" } },
        fails
          ? { type: "CheckpointFailed", data: { reason: "a file differs" } }
          : { type: "CheckpointCompleted", data: { ...about, ...bytes } },
      ]);
    });
    return { checkpoint, step };
  }
}
