/** A history gives the same documents, however the log is cut into pages. */
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
import {
  array,
  assert,
  asyncProperty,
  constantFrom,
  integer,
  nat,
  record,
  type Arbitrary,
} from "fast-check";
import { expect, test } from "vitest";
import {
  agentStart,
  created,
  requested,
  searchStarted,
  taskCreated,
  trialCreated,
} from "../../../testing/example-events.ts";
import { documentOfText, textOfDocument } from "./document-text.ts";
import { type DocumentRow, keyText } from "./documents.ts";
import { project } from "./project.ts";
import { fetchTouched } from "./touched.ts";

type Streamed = { readonly stream: string; readonly event: AnyEvent };
type Rows = Map<string, Omit<DocumentRow, "doc"> & { readonly text: string }>;

/** A table of documents, as `DocumentStore` writes it. */
class Table {
  readonly rows: Rows = new Map();
  readonly removed = new Set<string>();

  async apply(page: readonly Streamed[], position: number): Promise<void> {
    const documents = await fetchTouched(page, async (keys) =>
      keys.flatMap((key) => {
        const { text, ...row } = this.rows.get(keyText(key)) ?? { text: "" };
        return text === "" ? [] : [{ ...row, doc: documentOfText(text) } as DocumentRow];
      }),
    );
    for (const [index, { stream, event }] of page.entries()) {
      const at = position + index + 1;
      project({ stream, timeMs: at * 1_000, position: at }, event, documents);
    }
    for (const { doc, ...row } of documents.changed()) {
      this.rows.set(keyText(row), { ...row, text: textOfDocument(doc) });
    }
    for (const id of documents.removed()) {
      this.removed.add(id);
      for (const kind of ["experiment", "config", "leaders"]) this.rows.delete(`${kind}/${id}`);
    }
    for (const key of documents.dropped()) this.rows.delete(keyText(key));
  }

  /** Removes what `removePiece` does: what it finds by the trials and checkpoints of the removed experiments. */
  clear(): void {
    const trials = new Set<string>();
    const all = [...this.rows.entries()];
    for (const [key, { kind, id, parent, text }] of all) {
      if (kind === "trial" && this.removed.has(parent)) {
        trials.add(id);
        this.rows.delete(key);
      }
      if (kind !== "checkpoint" || !this.removed.has(parent)) continue;
      if (/"state":"(?:DELETED|ERROR)"/.test(text)) this.rows.delete(key);
    }
    for (const [key, { kind, parent }] of all) {
      if ((kind === "run" || kind === "validation") && trials.has(parent)) this.rows.delete(key);
    }
  }

  sorted(): readonly string[] {
    return [...this.rows]
      .map(([key, { parent, ordinal, text }]) => `${key} ${parent} ${ordinal} ${sortedText(text)}`)
      .toSorted();
  }
}

/** The order of fields does not matter. */
function sortedText(text: string): string {
  return JSON.stringify(JSON.parse(text), (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

const kinds = [
  ...["create", "trial", "grant", "start", "end", "end trial", "continue", "task", "resume"],
  ...["request", "request", "request", "end"],
  ...["validate", "validate", "validate", "validate", "supersede", "supersede", "wait"],
  ...["declare", "settle", "settle", "delete checkpoint", "join", "agent", "job", "pool"],
  ...["version", "delete", "stop", "end task", "delete task", "explain", "progress"],
];
type Step = { readonly kind: number; readonly owner: number; readonly amount: number };
const steps: Arbitrary<readonly Step[]> = array(
  record({
    kind: nat(kinds.length - 1),
    // Most events are of one trial, so that it has many runs and validations.
    owner: constantFrom(0, 0, 0, 0, 0, 1, 2, 3),
    amount: nat(40),
  }),
  { minLength: 1, maxLength: 300, size: "max" },
);

const losses = [0.5, 0.4, 0.3, 0.2, 0.1, 0.05, Number.NaN, Number.POSITIVE_INFINITY, -0];

/** The events of a drawn history. Owners are two trials of each experiment, and two tasks. */
function historyOf(drawn: readonly Step[]): readonly Streamed[] {
  const events: Streamed[] = [];
  const say = (stream: string, type: string, data: object): void => {
    events.push({ stream, event: { type, data } as AnyEvent });
  };
  const add = (stream: string, event: AnyEvent): void => {
    events.push({ stream, event });
  };
  const experiments = new Set<string>();
  const deleted = new Set<string>();
  type Owner = {
    id: string;
    run: number;
    open: boolean;
    started: boolean;
    ended: boolean;
    step: number;
  };
  const owners = new Map<string, Owner>();
  const checkpoints: { id: string; trial: string; run: number; step: number; settled: boolean }[] =
    [];
  const joined = new Set<string>();
  let versions = 0;

  const ownerOf = (number: number): Owner | undefined =>
    owners.get(["1.1", "1.2", "2.1", "t7"][number] ?? "");
  const isTask = ({ id }: Owner): boolean => id.startsWith("t");
  const streamOf = (owner: Owner): string => `${isTask(owner) ? "task" : "trial"}-${owner.id}`;
  const allocationOf = (owner: Owner): string =>
    isTask(owner) ? taskRunId(owner.id, owner.run) : runId(owner.id, owner.run);
  const jobOf = ({ id }: Owner): string => id.split(".")[0] ?? "";
  const isGone = (owner: Owner): boolean => deleted.has(jobOf(owner));
  const endRun = (owner: Owner, amount: number): void => {
    if (!owner.open) return;
    const sealed = checkpoints
      .filter(({ trial, settled }) => trial === owner.id && (!settled || amount % 3 === 0))
      .map(({ id, step }) => ({ checkpoint: id, step, bytes: 7 }));
    say(streamOf(owner), "RunEnded", {
      ...{ run: owner.run, why: RunEndWhy.FAILED, message: "m", countsAsRestart: amount % 2 === 0 },
      ...{
        fault: Fault.SCRIPT,
        triesInRow: 2,
        ...(amount > 20 ? { sealed: { checkpoints: sealed } } : {}),
      },
    });
    const exits = [{ agent: amount % 5 === 0 ? "" : `a${owner.run % 2}` }];
    say(`allocation-${allocationOf(owner)}`, "AllocationEnded", { exits });
    owner.open = false;
  };

  for (const { kind, owner: number, amount } of drawn) {
    const owner = ownerOf(number);
    const experiment = number < 2 ? "1" : "2";
    switch (kinds[kind]) {
      case "create":
        if (experiments.has(experiment)) break;
        experiments.add(experiment);
        add(`experiment-${experiment}`, created({}));
        add(`search-${experiment}`, searchStarted());
        break;
      case "trial": {
        const id = ["1.1", "1.2", "2.1", ""][number] ?? "";
        if (id === "" || owner !== undefined || !experiments.has(experiment)) break;
        if (deleted.has(experiment)) break;
        const { data } = trialCreated(Number(id.split(".")[1])) as { data: object };
        say(`trial-${id}`, "TrialCreated", {
          ...data,
          experiment,
          hyperparameters: { lr: amount },
        });
        owners.set(id, { id, run: 0, open: false, started: false, ended: false, step: 0 });
        break;
      }
      case "task":
        if (owners.has("t7") || amount > 20) break;
        add("task-t7", taskCreated());
        owners.set("t7", { id: "t7", run: 0, open: false, started: false, ended: false, step: 0 });
        break;
      case "request": {
        if (owner === undefined || owner.ended || isGone(owner)) break;
        endRun(owner, amount);
        owner.run += 1;
        owner.open = true;
        owner.started = false;
        add(streamOf(owner), requested(owner.run, 0));
        const resources = {
          pool: `p${amount % 2}`,
          slots: amount % 3,
          priority: amount,
          weight: 1,
        };
        say(`allocation-${allocationOf(owner)}`, "AllocationQueued", {
          ...{ task: owner.id, run: owner.run, job: jobOf(owner), workspace: "w", owner: "o" },
          resources: { ...resources, ...(amount % 4 === 0 ? { maxSlots: 3 } : {}) },
        });
        break;
      }
      case "grant":
        if (owner?.open !== true) break;
        say(`allocation-${allocationOf(owner)}`, "AllocationGranted", {
          placements: [
            { agent: `a${owner.run % 2}`, slots: [`s${amount % 3}`], nodeRank: 0, address: "" },
          ],
          ...(amount > 30 ? { borrowed: 1 } : {}),
        });
        break;
      case "start":
        if (owner?.open !== true || owner.started) break;
        owner.started = true;
        say(streamOf(owner), "RunStarted", { run: owner.run, allocation: allocationOf(owner) });
        break;
      case "end":
        if (owner !== undefined) endRun(owner, amount);
        break;
      case "stop":
        if (owner?.open !== true) break;
        say(streamOf(owner), amount > 20 ? "RunStopRequested" : "RunStopWithdrawn", {
          ...{ run: owner.run, why: StopWhy.PREEMPTED },
        });
        if (amount > 10)
          say(`allocation-${allocationOf(owner)}`, "AllocationStopRequested", {
            why: StopWhy.DRAIN,
          });
        break;
      case "explain":
        if (owner?.open !== true) break;
        say(`allocation-${allocationOf(owner)}`, "WaitExplained", {
          code: 3,
          detail: `d${amount}`,
        });
        break;
      case "progress":
        if (owner?.open !== true || isTask(owner)) break;
        say(`measurement-${owner.id}`, "ProgressReported", { run: owner.run, percent: amount });
        break;
      case "validate": {
        if (owner === undefined || isTask(owner) || owner.run === 0 || isGone(owner)) break;
        owner.step += amount % 4;
        const run = amount === 7 ? owner.run - 1 : owner.run;
        const loss = losses[amount % losses.length] ?? 0;
        say(`measurement-${owner.id}`, "ValidationReported", {
          ...{ trial: owner.id, run, step: owner.step, reportKey: `${amount}`, nonNumeric: [] },
          scalars: {
            ...(amount === 11 ? {} : { loss: loss / (1 + owner.step) }),
            accuracy: amount,
          },
        });
        break;
      }
      case "supersede": {
        if (owner === undefined || isTask(owner) || owner.run === 0 || isGone(owner)) break;
        const afterStep = Math.max(-1, owner.step - (amount % 13));
        say(`measurement-${owner.id}`, "MeasurementsSuperseded", { run: owner.run, afterStep });
        if (amount % 2 === 0) owner.step = Math.max(0, afterStep);
        break;
      }
      case "declare": {
        if (owner === undefined || isTask(owner) || owner.run === 0 || isGone(owner)) break;
        const id = `c${checkpoints.length}`;
        const step = owner.step;
        const facts = { trial: owner.id, run: owner.run, step };
        checkpoints.push({ id, ...facts, settled: false });
        say(`checkpoint-${id}`, "CheckpointDeclared", facts);
        break;
      }
      case "settle": {
        const one = checkpoints[amount % Math.max(1, checkpoints.length)];
        if (one === undefined || one.settled) break;
        one.settled = true;
        const type = ["CheckpointCompleted", "CheckpointFailed", "CheckpointAbandoned"][number % 3];
        say(`checkpoint-${one.id}`, type ?? "", {
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
        break;
      }
      case "delete checkpoint": {
        const one = checkpoints[amount % Math.max(1, checkpoints.length)];
        if (one?.settled !== true) break;
        say(`checkpoint-${one.id}`, "CheckpointCondemned", { by: "", reason: "r" });
        say(`checkpoint-${one.id}`, "CheckpointDeleted", {});
        break;
      }
      case "version": {
        const one = checkpoints[amount % Math.max(1, checkpoints.length)];
        if (one === undefined || deleted.has(one.trial.split(".")[0] ?? "")) break;
        versions += 1;
        if (versions === 1)
          say("model-m", "ModelCreated", {
            description: "",
            notes: "",
            labels: [],
            workspace: "",
            by: "a",
          });
        say("model-m", "VersionRegistered", {
          ...{
            number: versions,
            trial: one.trial,
            run: one.run,
            step: one.step,
            checkpoint: one.id,
          },
          ...{ semanticVersion: "", metrics: {}, description: "", notes: "", labels: [], by: "a" },
        });
        break;
      }
      case "end trial": {
        if (owner === undefined || isTask(owner) || owner.ended || amount > 15) break;
        endRun(owner, amount);
        owner.ended = true;
        const outcomes = [TrialOutcome.COMPLETED, TrialOutcome.FAILED, TrialOutcome.CANCELED];
        say(`trial-${owner.id}`, "TrialEnded", {
          outcome: outcomes[amount % 3],
          reason: "r",
          restarts: 1,
        });
        break;
      }
      case "continue":
        if (owner === undefined || !owner.ended || isTask(owner) || isGone(owner)) break;
        owner.ended = false;
        say(`trial-${owner.id}`, "TrialContinued", {});
        break;
      case "end task":
        if (owner === undefined || !isTask(owner) || owner.ended || amount > 10) break;
        endRun(owner, amount);
        owner.ended = true;
        say("task-t7", "TaskEnded", { outcome: TaskOutcome.COMPLETED, reason: "r", restarts: 1 });
        break;
      case "resume":
        if (owner === undefined || !isTask(owner) || !owner.ended) break;
        owner.ended = false;
        say("task-t7", "TaskResumed", {});
        break;
      case "delete task":
        if (owner === undefined || !isTask(owner) || !owner.ended) break;
        deleted.add("t7");
        say("task-t7", "TaskDeleted", {});
        break;
      case "delete": {
        if (!experiments.has(experiment) || deleted.has(experiment) || amount > 4) break;
        for (const one of owners.values()) if (jobOf(one) === experiment) endRun(one, amount);
        say(`experiment-${experiment}`, "ExperimentEnded", {
          outcome: ExperimentOutcome.COMPLETED,
          reason: "",
        });
        say(`experiment-${experiment}`, "ExperimentDeleted", {});
        deleted.add(experiment);
        break;
      }
      case "join": {
        const agent = `a${number % 2}`;
        const slots = [0, 1, 2].map((slot) => ({ id: `s${slot}`, device: "cpu", memoryBytes: 1 }));
        joined.add(agent);
        say(`agent-${agent}`, "AgentJoined", {
          ...agentStart,
          pool: "p0",
          version: "1",
          labels: {},
          slots,
        });
        break;
      }
      case "agent": {
        const agent = `a${number % 2}`;
        if (!joined.has(agent)) break;
        const slots = [0, 1, 2].map((slot) => ({ id: `s${slot}`, device: "cpu", memoryBytes: 1 }));
        const open = [...owners.values()].find((one) => one.open);
        const occupations =
          open === undefined || amount > 35
            ? []
            : [{ allocation: allocationOf(open), slots: ["s1"] }];
        if (amount % 3 === 0) say(`agent-${agent}`, "AgentReturned", { slots, occupations });
        else if (amount % 3 === 1) say(`agent-${agent}`, "AgentLost", {});
        else say(`agent-${agent}`, "SlotsCleared", { slots: [`s${amount % 2}`] });
        break;
      }
      case "job":
        if (amount % 2 === 0) {
          say(`pool-p${amount % 4 === 0 ? 0 : 1}`, "JobUpdated", {
            job: number === 3 ? "t7" : experiment,
            ...(amount % 3 === 0 ? { priority: amount } : { maxSlots: amount }),
          });
        } else {
          say("pool-p0", "JobMoved", { job: number === 3 ? "t7" : experiment, place: amount / 3 });
        }
        break;
      case "pool":
        if (amount < 8) say(`pool-p${amount % 2}`, "PoolRemoved", {});
        break;
    }
  }
  return events;
}

async function folded(events: readonly Streamed[], sizes: readonly number[]): Promise<Table> {
  const table = new Table();
  let at = 0;
  for (let page = 0; at < events.length; page += 1) {
    const size = sizes[page % sizes.length] ?? 1;
    await table.apply(events.slice(at, at + size), at);
    at += size;
  }
  return table;
}

test("a history gives the same documents, however the log is cut into pages", async () => {
  const cuts = array(integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
  await assert(
    asyncProperty(steps, cuts, async (drawn, cut) => {
      const events = historyOf(drawn);
      const whole = await folded(events, [Math.max(1, events.length)]);
      whole.clear();
      for (const sizes of [[1], [2], [7], cut]) {
        const table = await folded(events, sizes);
        table.clear();
        expect(table.sorted(), `pages of ${sizes.join(", ")}`).toEqual(whole.sorted());
      }
      const left = [...whole.rows.values()].filter(
        ({ kind, parent }) =>
          (kind === "trial" || kind === "run" || kind === "validation") &&
          whole.removed.has(parent.split(".")[0] ?? ""),
      );
      expect(left).toEqual([]);
    }),
    { numRuns: 40 },
  );
});
