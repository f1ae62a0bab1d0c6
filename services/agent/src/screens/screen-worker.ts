/** The thread that follows the terminals of an agent's tasks. Its messages say which tasks those are. */
import { parentPort } from "node:worker_threads";
import { systemClock } from "@trainyard/kernel/system-clock";
import { followTask } from "./follow-task.ts";
import { ScreenPlaces } from "./screen-places.ts";

/** The folders TRAINYARD_RUN_DIR of all tasks that run now. */
export type Followed = readonly string[];

class Following {
  readonly #places = new ScreenPlaces();
  readonly #tasks = new Map<string, AbortController>();

  set(runDirs: Followed): void {
    for (const [runDir, stopping] of this.#tasks) {
      if (runDirs.includes(runDir)) continue;
      this.#tasks.delete(runDir);
      stopping.abort();
    }
    for (const runDir of runDirs) {
      if (this.#tasks.has(runDir)) continue;
      const stopping = new AbortController();
      this.#tasks.set(runDir, stopping);
      void followTask(runDir, this.#places, systemClock, stopping.signal);
    }
  }
}

const following = new Following();
parentPort?.on("message", (runDirs: Followed) => following.set(runDirs));
