/**
 * Runs searches as pure folds in a separate process: reports in, decisions out. Prints one JSON object. Times are
 * processor time of this thread, since other processes take the processor for milliseconds.
 */
import {
  acceptExperiment,
  type SearchCommand,
  type SearchEvent,
  SearchMachine,
} from "@trainyard/search";
import type { NormalisedConfig } from "@trainyard/experiment-config";
import { TrialOutcome } from "@trainyard/contracts/events";
import { draw, isRejection } from "@trainyard/kernel";

type Kind = "asha" | "median" | "no_improvement";

const concurrent = 256;
const maxTime = 27;

function configOf(kind: Kind, trials: number): NormalisedConfig {
  const timed = { metric: "loss", max_trials: trials, max_concurrent_trials: concurrent };
  const searcher =
    kind === "asha"
      ? {
          name: "asha",
          ...timed,
          max_time: maxTime,
          min_time: 1,
          divisor: 3,
          time_metric: "batches",
        }
      : { name: "random", ...timed };
  const policy = kind === "median" ? { name: "median" } : { name: "no_improvement", patience: 3 };
  const document = {
    name: "fold",
    entrypoint: "true",
    checkpoint_storage: { type: "directory", container_path: "/checkpoints" },
    hyperparameters: {
      lr: { type: "log", base: 10, minval: -4, maxval: -1 },
      units: { type: "int", minval: 4, maxval: 64 },
    },
    searcher,
    ...(kind === "asha" ? {} : { early_stopping: [policy] }),
  };
  const accepted = acceptExperiment(JSON.stringify(document));
  if (isRejection(accepted)) throw new Error(JSON.stringify(accepted));
  return accepted.config;
}

const values = Float64Array.from({ length: 1 << 16 }, (_, n) => draw(1, "loss", n));

/** Runs trials that report in turn, one step each; a trial that is stopped, or has reached the end, ends at once. */
class Fold {
  readonly #search = new SearchMachine();
  reports = 0;
  #number = 0;
  /** A ring buffer of the trials in training. */
  readonly #turns: Int32Array;
  #first = 0;
  #turnsTaken = 0;
  readonly #times: Int32Array;
  readonly #until: Int32Array;
  readonly #kind: Kind;

  constructor(kind: Kind, trials: number) {
    this.#kind = kind;
    this.#turns = new Int32Array(8_192);
    this.#times = new Int32Array(2 * trials + 8_192);
    this.#until = new Int32Array(2 * trials + 8_192).fill(kind === "asha" ? 1 : maxTime);
    this.#send({ type: "StartSearch", config: configOf(kind, trials), seed: 1 });
  }

  get trials(): number {
    return this.#search.state.trials.length;
  }

  get over(): boolean {
    return this.#turnsTaken === 0;
  }

  #send(command: SearchCommand): void {
    const decided = this.#search.take(command) as readonly SearchEvent[];
    this.#search.keep();
    let stopped = 0;
    for (const event of decided) {
      if (event.type === "TrialProposed") this.#train(event.data.number);
      else if (event.type === "TrialResumed") {
        this.#until[event.data.trial] = event.data.target;
        this.#train(event.data.trial);
      } else if (event.type === "TrialStopDecided") stopped = event.data.trial;
    }
    if (stopped > 0) this.#end(stopped, TrialOutcome.STOPPED_EARLY);
  }

  #train(trial: number): void {
    this.#turns[(this.#first + this.#turnsTaken) & 8_191] = trial;
    this.#turnsTaken += 1;
  }

  #end(trial: number, outcome: TrialOutcome): void {
    this.#until[trial] = -1;
    this.#send({ type: "RecordOutcome", trial, outcome });
  }

  report(): void {
    const trial = this.#turns[this.#first & 8_191] as number;
    this.#first += 1;
    this.#turnsTaken -= 1;
    if ((this.#until[trial] as number) < 0) return;
    const step = (this.#times[trial] as number) + 1;
    this.#times[trial] = step;
    this.#number += 1;
    const loss = (values[this.#number & 0xffff] as number) + 1 / step;
    const measurement = `0190c5f0-0000-7000-8000-${String(this.#number).padStart(12, "0")}`;
    this.reports += 1;
    const goesOn = step < (this.#until[trial] as number);
    const run = { run: 1, currentRun: 1, step, measurement };
    this.#send({ type: "RecordValidation", trial, ...run, scalars: { loss } });
    if (goesOn && (this.#until[trial] as number) > 0) this.#train(trial);
    else if (this.#kind !== "asha" && (this.#until[trial] as number) > 0) {
      this.#end(trial, TrialOutcome.COMPLETED);
    }
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

type Grown = { readonly reports: number; readonly ms: number; readonly fold: Fold };

/** Runs a search, first to nine tenths of its trials and then to all; returns the time of the last tenth. */
function grown(kind: Kind, trials: number): Grown {
  const fold = new Fold(kind, trials);
  while (fold.trials < trials * 0.9 && !fold.over) fold.report();
  const before = fold.reports;
  const startMs = threadMs();
  while (fold.trials < trials && !fold.over) fold.report();
  return { reports: fold.reports - before, ms: threadMs() - startMs, fold };
}

/** Runs whole searches of `trials` trials, one after the other, until `reports` reports were made. */
function small(kind: Kind, trials: number, reports: number): number {
  let done = 0;
  const startMs = threadMs();
  while (done < reports) {
    const fold = new Fold(kind, trials);
    while (!fold.over) fold.report();
    done += fold.reports;
  }
  return (done / (threadMs() - startMs)) * 1_000;
}

function median(list: readonly number[]): number {
  return [...list].sort((a, b) => a - b)[list.length >> 1] ?? Number.NaN;
}

const [kind = "asha", fewer = "1000", trials = "100000", rounds = "3"] = process.argv.slice(2);
const many = Number(trials);
small(kind as Kind, Number(fewer), many / 2);
const few: number[] = [];
const large: number[] = [];
let stateMb = 0;
for (let round = 0; round < Number(rounds); round += 1) {
  few.push(small(kind as Kind, Number(fewer), many / 2));
  globalThis.gc?.();
  const heldBefore = process.memoryUsage();
  const { reports, ms, fold } = grown(kind as Kind, many);
  large.push((reports / ms) * 1_000);
  globalThis.gc?.();
  const held = process.memoryUsage();
  const bytes = held.heapUsed + held.external - heldBefore.heapUsed - heldBefore.external;
  // Takes the largest of the rounds, since garbage of an earlier round makes later differences too small.
  stateMb = Math.max(stateMb, fold.trials === 0 ? 0 : bytes / 2 ** 20);
}
const rssMb = process.resourceUsage().maxRSS / 1_024;
process.stdout.write(
  JSON.stringify({ few: median(few), many: median(large), stateMb, rssMb }) + "\n",
);
