import type { EventData, Plain } from "@trainyard/contracts";
import type { Run } from "@trainyard/contracts/api";
import { Fault, RunEndWhy, StopWhy, TrialOutcome, WaitCode } from "@trainyard/contracts/events";
import { parseTrialId, runId } from "@trainyard/kernel";
import type { DocumentSet } from "./documents.ts";
import { rankTrial } from "./leaders.ts";
import { type Projections, runOf } from "./projections.ts";
import { neverRan } from "./run-times.ts";
import { addSealed } from "./unstored.ts";
import { bestAfter, recordValidation } from "./validations.ts";

const outcomeStates: Readonly<Record<number, string>> = {
  [TrialOutcome.COMPLETED]: "COMPLETED",
  [TrialOutcome.STOPPED_EARLY]: "COMPLETED",
  [TrialOutcome.CANCELED]: "CANCELED",
};

const stoppingStates: Readonly<Record<number, string>> = {
  [StopWhy.SEARCH_STOP]: "STOPPING_COMPLETED",
  [StopWhy.CANCEL]: "STOPPING_CANCELED",
  [StopWhy.KILL]: "STOPPING_KILLED",
};

const endWhys: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(RunEndWhy).map(([name, number]) => [number, name.toLowerCase()]),
);

const faults: Readonly<Record<number, string>> = {
  [Fault.SCRIPT]: "script",
  [Fault.HOST]: "host",
  [Fault.PLATFORM]: "platform",
};

/** The names of the scheduler's wait reasons. A code of a later version has none. */
const waitCodes: Readonly<Record<WaitCode, string>> = {
  [WaitCode.UNSPECIFIED]: "",
  [WaitCode.NO_AGENTS]: "no_agents",
  [WaitCode.AGENTS_AWAY]: "agents_away",
  [WaitCode.NOT_ENOUGH_FREE_SLOTS]: "not_enough_free",
  [WaitCode.BEHIND_OTHERS]: "behind_others",
  [WaitCode.LOW_DISK]: "low_disk",
  [WaitCode.AGENTS_DISTRUSTED]: "distrusted",
  [WaitCode.RESERVED]: "reserved",
  [WaitCode.QUOTA]: "quota",
  [WaitCode.MAX_SLOTS]: "max_slots",
  [WaitCode.FAIR_SHARE]: "fair_share",
  [WaitCode.CONSTRAINTS]: "constraints",
  [WaitCode.PREEMPTING]: "preempting",
};

const noWait = { waitsFor: "", waitCode: "", waitLimit: "" };

/** The states of a trial in the API. */
export const trialStates: readonly string[] = [
  "ACTIVE",
  "PAUSED",
  "STOPPING_COMPLETED",
  "STOPPING_CANCELED",
  "STOPPING_KILLED",
  "COMPLETED",
  "CANCELED",
  "ERROR",
];

export const trialProjections: Projections = {
  TrialCreated({ id, data, timeMs }, documents) {
    const { experiment, number, hyperparameters, seed, origin, evidence, sourceTrial } = data;
    documents.put({
      kind: "trial",
      id,
      parent: experiment,
      ordinal: number,
      doc: {
        id,
        experiment,
        number,
        seed,
        state: "ACTIVE",
        reason: "",
        restarts: 0,
        runs: [],
        stepsCompleted: 0,
        latestValidation: {},
        bestValidation: {},
        latestCheckpoint: "",
        createdAtMs: timeMs,
        lastLogLines: [],
        progress: 0,
        ...neverRan,
        warning: "",
        origin,
        sourceTrial,
        sourceStep: data.warmStartStep ?? 0,
        ...(evidence === undefined ? {} : { proposalEvidence: evidence }),
        records: [],
        recent: [],
        versions: [],
        ...(hyperparameters === undefined ? {} : { hyperparameters }),
      },
    });
  },
  RunRequested({ id, data, timeMs }, documents) {
    const run: Plain<Run> = {
      id: runId(id, data.run),
      number: data.run,
      state: "QUEUED",
      whyEnded: "",
      message: "",
      placements: [],
      requestedAtMs: timeMs,
      waitsFor: "",
      fromCheckpoint: data.fromCheckpoint,
    };
    documents.update("trial", id, (doc) => ({
      state: "ACTIVE",
      runs: [...doc.runs, { ...run, ...delayOf(doc.runs.at(-1), timeMs, data.delayMs) }],
      sealed: [],
    }));
  },
  RunStarted({ id, data, timeMs }, documents) {
    changeRun(documents, id, data.run, () => ({
      state: "RUNNING",
      startedAtMs: timeMs,
      ...noWait,
    }));
  },
  RunStopRequested({ id, data }, documents) {
    changeRun(documents, id, data.run, () => ({ state: "STOPPING" }));
    documents.update("trial", id, (doc) => ({ state: stoppingStates[data.why] ?? doc.state }));
  },
  RunStopWithdrawn({ id, data }, documents) {
    changeRun(documents, id, data.run, ({ startedAtMs, placements }) => {
      const granted = placements.length === 0 ? "QUEUED" : "STARTING";
      return { state: startedAtMs === undefined ? granted : "RUNNING" };
    });
  },
  RunEnded({ id, data, timeMs }, documents) {
    changeRun(documents, id, data.run, () => ({
      state: "ENDED",
      whyEnded: endWhys[data.why] ?? "",
      message: data.message,
      endedAtMs: timeMs,
      ...noWait,
      ...(data.fault === undefined ? {} : { fault: faults[data.fault] ?? "" }),
      ...(data.triesInRow === undefined ? {} : { triesInRow: data.triesInRow }),
    }));
    documents.update("trial", id, (doc) => ({
      restarts: doc.restarts + (data.countsAsRestart ? 1 : 0),
    }));
    addSealed(documents, id, data.sealed?.checkpoints);
  },
  RunCheckpointsNamed({ id, data }, documents) {
    addSealed(documents, id, data.checkpoints);
  },
  TrialEnded({ id, data, timeMs }, documents) {
    documents.update("trial", id, () => ({
      state: outcomeStates[data.outcome] ?? "ERROR",
      reason: data.reason,
      restarts: data.restarts,
      endedAtMs: timeMs,
    }));
    rankTrial(id, documents);
  },
  TrialKillRequested({ id }, documents) {
    documents.update("trial", id, () => ({ state: "STOPPING_KILLED" }));
  },
  TrialContinued({ id }, documents) {
    documents.replace("trial", id, ({ endedAtMs: _ended, ...doc }) => ({
      ...doc,
      state: "ACTIVE",
      reason: "",
      restarts: 0,
    }));
    rankTrial(id, documents);
  },
  AllocationGranted({ id, data }, documents) {
    const run = runOf(id);
    if (run === null) return;
    const placements = data.placements.map(({ agent, slots, nodeRank, address }) => ({
      agent,
      slots,
      nodeRank,
      ...(address === "" ? {} : { address }),
    }));
    changeRun(documents, run.trial, run.run, () => ({
      state: "STARTING",
      ...noWait,
      placements,
    }));
  },
  WaitExplained({ id, data }, documents) {
    const run = runOf(id);
    if (run === null) return;
    const { code, detail, limit = "" } = data;
    changeRun(documents, run.trial, run.run, () => ({
      waitsFor: detail,
      waitCode: waitCodes[code] ?? "",
      waitLimit: limit,
    }));
  },
  ValidationReported({ data }, documents) {
    observeValidation(data, documents);
  },
  MeasurementsSuperseded({ id, data }, documents) {
    documents.replace("trial", id, ({ bestValue: _superseded, ...doc }) => ({
      ...doc,
      ...bestAfter(doc, data.afterStep),
    }));
    rankTrial(id, documents);
  },
  TrialCheckpointed({ id, data }, documents) {
    documents.update("trial", id, (doc) => ({
      latestCheckpoint: data.checkpoint,
      stepsCompleted: Math.max(doc.stepsCompleted, data.step),
    }));
  },
};

/** Returns why a run waits after a failed one; nothing without a delay. */
function delayOf(
  last: Plain<Run> | undefined,
  timeMs: number,
  delayMs: number,
): Partial<Plain<Run>> {
  if (delayMs === 0) return {};
  const { triesInRow = 1, fault = "" } = last ?? {};
  const failures = triesInRow === 1 ? "a failure" : `${triesInRow} failures in a row`;
  const cause = fault === "" ? "" : ` (cause of the latest: ${fault})`;
  const until = new Date(timeMs + delayMs).toISOString();
  return { waitsFor: `a delay until ${until} after ${failures}${cause}`, waitCode: "delayed" };
}

export function changeRun(
  documents: DocumentSet,
  trial: string,
  number: number,
  change: (run: Plain<Run>) => Partial<Plain<Run>>,
): void {
  documents.update("trial", trial, (doc) => ({
    runs: doc.runs.map((run) => (run.number === number ? { ...run, ...change(run) } : run)),
  }));
}

/** A report of a run that another run has followed does not count. */
function observeValidation(data: EventData<"ValidationReported">, documents: DocumentSet): void {
  const trial = documents.get("trial", data.trial);
  const experiment = documents.get("experiment", parseTrialId(data.trial)?.experiment ?? "");
  if (trial === undefined || experiment === undefined) return;
  const current = trial.runs[trial.runs.length - 1];
  if (current !== undefined && current.number > data.run) return;
  const { metric, smallerIsBetter } = experiment;
  const changed = recordValidation(trial, data, metric, smallerIsBetter);
  documents.update("trial", data.trial, () => changed);
  rankTrial(data.trial, documents);
}
