import type { Plain } from "@trainyard/contracts";
import type { Experiment } from "@trainyard/contracts/api";
import { number } from "./output.ts";

const width = 30;

/** A progress bar that redraws itself on a terminal; elsewhere it prints a line whenever the whole percent changes. */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream;
  #shown = "";

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  /** Shows the progress; `fraction` is 0 to 1. */
  show(fraction: number, note: string): void {
    const percent = `${Math.floor(fraction * 100)}%`;
    if (!this.#stream.isTTY) {
      if (percent !== this.#shown) this.#stream.write(`${percent.padStart(4)}  ${note}\n`);
      this.#shown = percent;
      return;
    }
    const filled = Math.round(fraction * width);
    const bar = "█".repeat(filled) + "░".repeat(width - filled);
    this.#shown = `${bar} ${percent.padStart(4)}  ${note}`;
    this.#stream.write(`\r\u001b[2K${this.#shown.slice(0, this.#stream.columns - 1)}`);
  }

  experiment({ progress, trials, trialsCompleted, bestValue }: Plain<Experiment>): void {
    // The search has not proposed a trial yet: a line about none of none says nothing.
    if (trials === 0) return;
    const best = bestValue === undefined ? "" : `, best ${number(bestValue)}`;
    this.show(progress, `${trialsCompleted} of ${trials} trials completed${best}`);
  }

  /** Ends the bar and leaves its last state on the screen. */
  end(): void {
    if (this.#stream.isTTY && this.#shown !== "") this.#stream.write("\n");
  }
}
