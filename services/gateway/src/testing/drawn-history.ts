/** Drawn histories of experiments, tasks, checkpoints, agents, pools and models, with deletions. */
import type { AnyEvent } from "@trainyard/contracts";
import {
  ExperimentOutcome,
  Fault,
  RunEndWhy,
  StopWhy,
  TaskOutcome,
  TrialOutcome,
} from "@trainyard/contracts/events";
import { runId, taskRunId } from "@trainyard/kernel";
import { type Arbitrary, array, constantFrom, nat, record } from "fast-check";
import {
  agentStart,
  created,
  requested,
  searchStarted,
  taskCreated,
  trialCreated,
} from "./example-events.ts";
import type { StreamedEvent } from "./folded-jobs.ts";

const kinds = [
  ...["create", "trial", "grant", "start", "end", "end trial", "continue", "task", "resume"],
  ...["request", "request", "request", "end"],
  ...["validate", "validate", "validate", "validate", "supersede", "supersede", "wait"],
  ...["declare", "settle", "settle", "delete checkpoint", "join", "agent", "job", "pool"],
  ...["version", "delete", "stop", "end task", "delete task", "explain", "progress"],
];
type Step = { readonly kind: number; readonly owner: number; readonly amount: number };
export const steps: Arbitrary<readonly Step[]> = array(
  record({
    kind: nat(kinds.length - 1),
    // Most events are of one trial, so that it has many runs and validations.
    owner: constantFrom(0, 0, 0, 0, 0, 1, 2, 3),
    amount: nat(40),
  }),
  { minLength: 1, maxLength: 300, size: "max" },
);

const losses = [0.5, 0.4, 0.3, 0.2, 0.1, 0.05, Number.NaN, Number.POSITIVE_INFINITY, -0];

/** A trial or a task, with its latest run. */
type Owner = {
  readonly id: string;
  run: number;
  open: boolean;
  started: boolean;
  ended: boolean;
  step: number;
};

type Declared = {
  readonly id: string;
  readonly trial: string;
  readonly run: number;
  readonly step: number;
  settled: boolean;
};

const isTask = ({ id }: Owner): boolean => id.startsWith("t");
const streamOf = (owner: Owner): string => `${isTask(owner) ? "task" : "trial"}-${owner.id}`;
const allocationOf = (owner: Owner): string =>
  isTask(owner) ? taskRunId(owner.id, owner.run) : runId(owner.id, owner.run);
const jobOf = ({ id }: Owner): string => id.split(".")[0] ?? "";

/** The events so far, and the state that decides what may follow. */
class History {
  readonly events: StreamedEvent[] = [];
  readonly experiments = new Set<string>();
  readonly deleted = new Set<string>();
  readonly owners = new Map<string, Owner>();
  readonly checkpoints: Declared[] = [];
  readonly joined = new Set<string>();
  versions = 0;

  say(stream: string, type: string, data: object): void {
    this.add(stream, { type, data } as AnyEvent);
  }

  add(stream: string, event: AnyEvent): void {
    this.events.push({ stream, event });
  }

  isGone(owner: Owner): boolean {
    return this.deleted.has(jobOf(owner));
  }

  endRun(owner: Owner, amount: number): void {
    if (!owner.open) return;
    const sealed = this.checkpoints
      .filter(({ trial, settled }) => trial === owner.id && (!settled || amount % 3 === 0))
      .map(({ id, step }) => ({ checkpoint: id, step, bytes: 7 }));
    this.say(streamOf(owner), "RunEnded", {
      ...{ run: owner.run, why: RunEndWhy.FAILED, message: "m", countsAsRestart: amount % 2 === 0 },
      ...{
        fault: Fault.SCRIPT,
        triesInRow: 2,
        ...(amount > 20 ? { sealed: { checkpoints: sealed } } : {}),
      },
    });
    const exits = [{ agent: amount % 5 === 0 ? "" : `a${owner.run % 2}` }];
    this.say(`allocation-${allocationOf(owner)}`, "AllocationEnded", { exits });
    owner.open = false;
  }
}

type Drawn = {
  readonly owner: Owner | undefined;
  /** The number of the owner, and its experiment. */
  readonly number: number;
  readonly experiment: string;
  readonly amount: number;
};

const moves: Readonly<Record<string, (history: History, drawn: Drawn) => void>> = {
  create(history, { experiment }) {
    if (history.experiments.has(experiment)) return;
    history.experiments.add(experiment);
    history.add(`experiment-${experiment}`, created({}));
    history.add(`search-${experiment}`, searchStarted());
  },
  trial(history, { owner, experiment, number, amount }) {
    const id = ["1.1", "1.2", "2.1", ""][number] ?? "";
    if (id === "" || owner !== undefined || !history.experiments.has(experiment)) return;
    if (history.deleted.has(experiment)) return;
    const { data } = trialCreated(Number(id.split(".")[1])) as { data: object };
    history.say(`trial-${id}`, "TrialCreated", {
      ...data,
      experiment,
      hyperparameters: { lr: amount },
    });
    history.owners.set(id, { id, run: 0, open: false, started: false, ended: false, step: 0 });
  },
  task(history, { amount }) {
    if (history.owners.has("t7") || amount > 20) return;
    history.add("task-t7", taskCreated());
    history.owners.set("t7", {
      id: "t7",
      run: 0,
      open: false,
      started: false,
      ended: false,
      step: 0,
    });
  },
  request(history, { owner, amount }) {
    if (owner === undefined || owner.ended || history.isGone(owner)) return;
    history.endRun(owner, amount);
    owner.run += 1;
    owner.open = true;
    owner.started = false;
    history.add(streamOf(owner), requested(owner.run, 0));
    const resources = {
      pool: `p${amount % 2}`,
      slots: amount % 3,
      priority: amount,
      weight: 1,
    };
    history.say(`allocation-${allocationOf(owner)}`, "AllocationQueued", {
      ...{ task: owner.id, run: owner.run, job: jobOf(owner), workspace: "w", owner: "o" },
      resources: { ...resources, ...(amount % 4 === 0 ? { maxSlots: 3 } : {}) },
    });
  },
  grant(history, { owner, amount }) {
    if (owner?.open !== true) return;
    history.say(`allocation-${allocationOf(owner)}`, "AllocationGranted", {
      placements: [
        { agent: `a${owner.run % 2}`, slots: [`s${amount % 3}`], nodeRank: 0, address: "" },
      ],
      ...(amount > 30 ? { borrowed: 1 } : {}),
    });
  },
  start(history, { owner }) {
    if (owner?.open !== true || owner.started) return;
    owner.started = true;
    history.say(streamOf(owner), "RunStarted", { run: owner.run, allocation: allocationOf(owner) });
  },
  end(history, { owner, amount }) {
    if (owner !== undefined) history.endRun(owner, amount);
  },
  stop(history, { owner, amount }) {
    if (owner?.open !== true) return;
    history.say(streamOf(owner), amount > 20 ? "RunStopRequested" : "RunStopWithdrawn", {
      ...{ run: owner.run, why: StopWhy.PREEMPTED },
    });
    if (amount > 10)
      history.say(`allocation-${allocationOf(owner)}`, "AllocationStopRequested", {
        why: StopWhy.DRAIN,
      });
  },
  explain(history, { owner, amount }) {
    if (owner?.open !== true) return;
    history.say(`allocation-${allocationOf(owner)}`, "WaitExplained", {
      code: 3,
      detail: `d${amount}`,
    });
  },
  progress(history, { owner, amount }) {
    if (owner?.open !== true || isTask(owner)) return;
    history.say(`measurement-${owner.id}`, "ProgressReported", { run: owner.run, percent: amount });
  },
  validate(history, { owner, amount }) {
    if (owner === undefined || isTask(owner) || owner.run === 0 || history.isGone(owner)) return;
    owner.step += amount % 4;
    const run = amount === 7 ? owner.run - 1 : owner.run;
    const loss = losses[amount % losses.length] ?? 0;
    history.say(`measurement-${owner.id}`, "ValidationReported", {
      ...{ trial: owner.id, run, step: owner.step, reportKey: `${amount}`, nonNumeric: [] },
      scalars: {
        ...(amount === 11 ? {} : { loss: loss / (1 + owner.step) }),
        accuracy: amount,
      },
    });
  },
  supersede(history, { owner, amount }) {
    if (owner === undefined || isTask(owner) || owner.run === 0 || history.isGone(owner)) return;
    const afterStep = Math.max(-1, owner.step - (amount % 13));
    history.say(`measurement-${owner.id}`, "MeasurementsSuperseded", { run: owner.run, afterStep });
    if (amount % 2 === 0) owner.step = Math.max(0, afterStep);
  },
  declare(history, { owner }) {
    if (owner === undefined || isTask(owner) || owner.run === 0 || history.isGone(owner)) return;
    const id = `c${history.checkpoints.length}`;
    const step = owner.step;
    const facts = { trial: owner.id, run: owner.run, step };
    history.checkpoints.push({ id, ...facts, settled: false });
    history.say(`checkpoint-${id}`, "CheckpointDeclared", facts);
  },
  settle(history, { number, amount }) {
    const one = history.checkpoints[amount % Math.max(1, history.checkpoints.length)];
    if (one === undefined || one.settled) return;
    one.settled = true;
    const type = ["CheckpointCompleted", "CheckpointFailed", "CheckpointAbandoned"][number % 3];
    history.say(`checkpoint-${one.id}`, type ?? "", {
      ...(type === "CheckpointCompleted"
        ? {
            trial: one.trial,
            run: one.run,
            step: one.step,
            files: 1,
            bytes: 7,
            manifestDigest: "d",
          }
        : { reason: "r" }),
    });
  },
  "delete checkpoint"(history, { amount }) {
    const one = history.checkpoints[amount % Math.max(1, history.checkpoints.length)];
    if (one?.settled !== true) return;
    history.say(`checkpoint-${one.id}`, "CheckpointCondemned", { by: "", reason: "r" });
    history.say(`checkpoint-${one.id}`, "CheckpointDeleted", {});
  },
  version(history, { amount }) {
    const one = history.checkpoints[amount % Math.max(1, history.checkpoints.length)];
    if (one === undefined || history.deleted.has(one.trial.split(".")[0] ?? "")) return;
    history.versions += 1;
    if (history.versions === 1)
      history.say("model-m", "ModelCreated", {
        description: "",
        notes: "",
        labels: [],
        workspace: "",
        by: "a",
      });
    history.say("model-m", "VersionRegistered", {
      ...{
        number: history.versions,
        trial: one.trial,
        run: one.run,
        step: one.step,
        checkpoint: one.id,
      },
      ...{ semanticVersion: "", metrics: {}, description: "", notes: "", labels: [], by: "a" },
    });
  },
  "end trial"(history, { owner, amount }) {
    if (owner === undefined || isTask(owner) || owner.ended || amount > 15) return;
    history.endRun(owner, amount);
    owner.ended = true;
    const outcomes = [TrialOutcome.COMPLETED, TrialOutcome.FAILED, TrialOutcome.CANCELED];
    history.say(`trial-${owner.id}`, "TrialEnded", {
      outcome: outcomes[amount % 3],
      reason: "r",
      restarts: 1,
    });
  },
  continue(history, { owner }) {
    if (owner === undefined || !owner.ended || isTask(owner) || history.isGone(owner)) return;
    owner.ended = false;
    history.say(`trial-${owner.id}`, "TrialContinued", {});
  },
  "end task"(history, { owner, amount }) {
    if (owner === undefined || !isTask(owner) || owner.ended || amount > 10) return;
    history.endRun(owner, amount);
    owner.ended = true;
    history.say("task-t7", "TaskEnded", {
      outcome: TaskOutcome.COMPLETED,
      reason: "r",
      restarts: 1,
    });
  },
  resume(history, { owner }) {
    if (owner === undefined || !isTask(owner) || !owner.ended) return;
    owner.ended = false;
    history.say("task-t7", "TaskResumed", {});
  },
  "delete task"(history, { owner }) {
    if (owner === undefined || !isTask(owner) || !owner.ended) return;
    history.deleted.add("t7");
    history.say("task-t7", "TaskDeleted", {});
  },
  delete(history, { experiment, amount }) {
    if (!history.experiments.has(experiment) || history.deleted.has(experiment) || amount > 4)
      return;
    for (const one of history.owners.values())
      if (jobOf(one) === experiment) history.endRun(one, amount);
    history.say(`experiment-${experiment}`, "ExperimentEnded", {
      outcome: ExperimentOutcome.COMPLETED,
      reason: "",
    });
    history.say(`experiment-${experiment}`, "ExperimentDeleted", {});
    history.deleted.add(experiment);
  },
  join(history, { number }) {
    const agent = `a${number % 2}`;
    const slots = [0, 1, 2].map((slot) => ({ id: `s${slot}`, device: "cpu", memoryBytes: 1 }));
    history.joined.add(agent);
    history.say(`agent-${agent}`, "AgentJoined", {
      ...agentStart,
      pool: "p0",
      version: "1",
      labels: {},
      slots,
    });
  },
  agent(history, { number, amount }) {
    const agent = `a${number % 2}`;
    if (!history.joined.has(agent)) return;
    const slots = [0, 1, 2].map((slot) => ({ id: `s${slot}`, device: "cpu", memoryBytes: 1 }));
    const open = [...history.owners.values()].find((one) => one.open);
    const occupations =
      open === undefined || amount > 35 ? [] : [{ allocation: allocationOf(open), slots: ["s1"] }];
    if (amount % 3 === 0) history.say(`agent-${agent}`, "AgentReturned", { slots, occupations });
    else if (amount % 3 === 1) history.say(`agent-${agent}`, "AgentLost", {});
    else history.say(`agent-${agent}`, "SlotsCleared", { slots: [`s${amount % 2}`] });
  },
  job(history, { experiment, number, amount }) {
    if (amount % 2 === 0) {
      history.say(`pool-p${amount % 4 === 0 ? 0 : 1}`, "JobUpdated", {
        job: number === 3 ? "t7" : experiment,
        ...(amount % 3 === 0 ? { priority: amount } : { maxSlots: amount }),
      });
    } else {
      history.say("pool-p0", "JobMoved", {
        job: number === 3 ? "t7" : experiment,
        place: amount / 3,
      });
    }
  },
  pool(history, { amount }) {
    if (amount < 8) history.say(`pool-p${amount % 2}`, "PoolRemoved", {});
  },
};

/** The events of a drawn history. Owners are three trials of two experiments, and a task. */
export function historyOf(drawn: readonly Step[]): readonly StreamedEvent[] {
  const history = new History();
  for (const { kind, owner: number, amount } of drawn) {
    const owner = history.owners.get(["1.1", "1.2", "2.1", "t7"][number] ?? "");
    const experiment = number < 2 ? "1" : "2";
    moves[kinds[kind] ?? ""]?.(history, { owner, number, experiment, amount });
  }
  return history.events;
}
