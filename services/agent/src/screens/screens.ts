/**
 * The screens of an agent's tasks, in a thread of their own: a flood of output in a terminal costs the agent's loop
 * nothing, and an error in the terminal emulator costs the screens alone. The thread starts with the first task.
 */
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type Clock, pause } from "@trainyard/kernel";
import { programFile } from "@trainyard/kernel/program-file";
import { limits } from "../limits.ts";
import type { Telemetry } from "../telemetry.ts";
import type { Followed } from "./screen-worker.ts";

const program = join(import.meta.dirname, "screen-worker.ts");

export class Screens implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #events: Pick<Telemetry, "screensLost">;
  readonly #stopping = new AbortController();
  readonly #followed = new Set<string>();
  #worker: Worker | null = null;

  constructor(clock: Clock, events: Pick<Telemetry, "screensLost">) {
    this.#clock = clock;
    this.#events = events;
  }

  /** Follows the terminals of a task until it is disposed. Its holder need not be up yet. */
  follow(runDir: string): Disposable {
    this.#followed.add(runDir);
    this.#tell();
    return {
      [Symbol.dispose]: () => {
        this.#followed.delete(runDir);
        this.#tell();
      },
    };
  }

  #tell(): void {
    if (this.#stopping.signal.aborted) return;
    if (this.#worker === null && this.#followed.size === 0) return;
    this.#worker ??= this.#start();
    this.#worker.postMessage([...this.#followed] satisfies Followed);
  }

  #start(): Worker {
    const worker = new Worker(programFile(program));
    worker.unref();
    worker.once("error", (error) => this.#events.screensLost(error));
    worker.once("exit", () => void this.#startAgain(worker));
    return worker;
  }

  /** The holders keep what was written meanwhile. */
  async #startAgain(worker: Worker): Promise<void> {
    await pause(this.#clock, limits.screensAgainMs, this.#stopping.signal);
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#tell();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#worker?.terminate();
  }
}
