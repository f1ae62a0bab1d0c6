/** Runs Trainyard's searches in a separate thread, so that the main thread can answer Optuna's processes. */
import { parentPort, workerData } from "node:worker_threads";
import type { OurRun } from "./our-runs.ts";
import { ourIncumbents } from "./ours.ts";
import { type Problem, problemOf } from "./problems.ts";

const problems = new Map<string, Problem>();

const runs = workerData as readonly OurRun[];
parentPort?.postMessage(
  runs.map(({ problem: name, searcher, seed, trials }) => {
    const problem = problems.get(name) ?? problemOf(name);
    problems.set(name, problem);
    return ourIncumbents(problem, searcher, seed, trials);
  }),
);
