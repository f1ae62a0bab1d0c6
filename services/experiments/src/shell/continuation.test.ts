/** Tests of continued experiments and restarted trials, by the events that reach this service. */
import {
  ExperimentOutcome,
  SearchCompletion,
  StopKind,
  TrialOutcome,
} from "@trainyard/contracts/events";
import type { CommandRequestOf } from "@trainyard/contracts/command-services";
import { newEventId } from "@trainyard/event-log";
import { systemClock } from "@trainyard/kernel/system-clock";
import { commandHandlers, decodeReply, encodeRequest, readRejected } from "@trainyard/runtime";
import { Stage } from "@trainyard/runtime/stage";
import { pino } from "pino";
import { beforeEach, describe, expect, test } from "vitest";
import {
  activated,
  allocationStarted,
  checkpointA,
  checkpointB,
  checkpointCompleted,
  crashed,
  exampleConfig,
  experimentCreated,
  finished,
  killed,
  stopRequested,
  trialProposed,
} from "../testing/examples.ts";
import { commandTable } from "./commands.ts";
import { proposalsOf } from "./continuation.ts";
import { memoryIds } from "../testing/memory-ids.ts";
import { reactionHandlers } from "./reactions.ts";
import { noFanOuts, waitsBy } from "../testing/small-fan-outs.ts";

let stage: Stage;

beforeEach(() => {
  stage = new Stage("experiments", () =>
    reactionHandlers(waitsBy(systemClock), { ...noFanOuts, proposals: proposalsOf(stage.log) }),
  );
});

const experiment = "experiment-12";
const search = "search-12";
const random = {
  ...exampleConfig,
  max_restarts: 0,
  searcher: { name: "random", metric: "loss", smaller_is_better: true, max_trials: 2 },
};

async function happens(stream: string, ...events: Parameters<Stage["tell"]>[1][]): Promise<void> {
  await stage.tell(stream, ...events);
  await stage.settle();
}

async function send<Name extends "ContinueExperiment" | "RestartTrial" | "KillTrial">(
  name: Name,
  request: CommandRequestOf<"experiments", Name>,
): Promise<string> {
  const table = commandTable(stage.executor, memoryIds(), {
    clock: systemClock,
    deletionGraceMs: 60_000,
  });
  const handler = commandHandlers("experiments", table, pino({ enabled: false }))[name];
  if (handler === undefined) throw new Error(`${name} is not a command`);
  const headers = { commitId: newEventId(), authid: "u1", traceparent: "", correlationid: "" };
  const body = encodeRequest("experiments", name, request);
  const reply = await handler({ headers, body, isLate: () => false });
  await stage.settle();
  if (reply.kind === "rejected") return readRejected(reply.body).rejected;
  return reply.kind === "ok"
    ? decodeReply("experiments", "RestartTrial", reply.body).stream
    : reply.kind;
}

const continueIt = (more: object = {}) =>
  send("ContinueExperiment", {
    experiment: "12",
    lengthUnit: "",
    ...more,
  });
const restart = (trial: string) => send("RestartTrial", { trial });
const kill = (trial: string, reason = "") => send("KillTrial", { trial, reason });

const outcomeRecorded = (trial: number, outcome: TrialOutcome) =>
  ({ type: "TrialOutcomeRecorded", data: { trial, outcome } }) as const;
const completed = (reason: SearchCompletion) =>
  ({ type: "SearchCompleted", data: { reason } }) as const;
const searchContinued = (continuation: number, trials: number[]) =>
  ({
    type: "SearchContinued",
    data: { continuation, trials, searcher: random.searcher, trialsMax: 2 },
  }) as const;

/** Runs two trials; the first one fails, the second one finishes. */
async function endedExperiment(): Promise<void> {
  await happens(experiment, experimentCreated(random), activated);
  await happens(search, trialProposed(1), trialProposed(2));
  await happens("allocation-12.1#1", allocationStarted, crashed);
  await happens("allocation-12.2#1", allocationStarted, finished);
  await happens(search, outcomeRecorded(1, TrialOutcome.FAILED));
  await happens(search, outcomeRecorded(2, TrialOutcome.COMPLETED));
  await happens(search, completed(SearchCompletion.EXHAUSTED));
  expect((await stage.names(experiment)).at(-1)).toBe("ExperimentEnded");
}

async function endOf(stream: string, count: number): Promise<string> {
  return (await stage.names(stream)).slice(-count).join(" ");
}

describe("an experiment that has ended", () => {
  test("trains its failed trial again when it is continued, and ends again after it", async () => {
    await endedExperiment();
    expect(await continueIt()).toBe(experiment);
    expect(await endOf(experiment, 1)).toBe("ExperimentContinued");
    await happens(search, searchContinued(1, [1]));
    expect(await endOf("trial-12.1", 2)).toBe("TrialContinued RunRequested");
    expect(await endOf("trial-12.2", 1)).toBe("TrialEnded");
    await happens("allocation-12.1#2", allocationStarted, finished);
    expect(await endOf("trial-12.1", 1)).toBe("TrialEnded");
    await happens(search, outcomeRecorded(1, TrialOutcome.COMPLETED));
    expect(await endOf(experiment, 1)).toBe("ExperimentContinued");
    await happens(search, completed(SearchCompletion.EXHAUSTED));
    const last = (await stage.stream(experiment)).at(-1);
    expect(last).toMatchObject({ data: { outcome: ExperimentOutcome.COMPLETED } });
  });

  test("does not end on a completion of its search from before the continuation", async () => {
    await endedExperiment();
    await continueIt();
    // The known completion of the search is still the old one.
    await happens(search, completed(SearchCompletion.EXHAUSTED));
    expect(await endOf(experiment, 1)).toBe("ExperimentContinued");
  });

  test("resets the trial's restarts when it is continued, and starts its run from the latest checkpoint", async () => {
    await happens(experiment, experimentCreated(random), activated);
    await happens(search, trialProposed(1));
    await happens("allocation-12.1#1", allocationStarted);
    await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 40));
    await happens("allocation-12.1#1", crashed);
    await happens(
      search,
      outcomeRecorded(1, TrialOutcome.FAILED),
      completed(SearchCompletion.FAILED),
    );
    await continueIt();
    await happens(search, searchContinued(1, [1]));
    const run = (await stage.stream("trial-12.1")).at(-1);
    expect(run).toMatchObject({ type: "RunRequested", data: { run: 2, fromStep: 40 } });
    await happens("allocation-12.1#2", allocationStarted, crashed);
    const end = (await stage.stream("trial-12.1")).at(-1);
    expect(end).toMatchObject({ type: "TrialEnded", data: { restarts: 0 } });
  });

  test("creates, when continued after a kill, the trial that its search had proposed during the kill", async () => {
    await happens(experiment, experimentCreated(random), activated, stopRequested(StopKind.KILL));
    await happens(search, trialProposed(1), completed(SearchCompletion.CANCELED));
    expect(await endOf(experiment, 1)).toBe("ExperimentEnded");
    expect(await stage.names("trial-12.1")).toEqual([]);
    await continueIt();
    await happens(search, searchContinued(1, [1]));
    expect(await stage.names("trial-12.1")).toEqual(["TrialCreated", "RunRequested"]);
  });

  test("reports a trial to its search again if it had completed before the cancel reached it", async () => {
    await happens(experiment, experimentCreated(random), activated);
    await happens(search, trialProposed(1));
    await happens("allocation-12.1#1", allocationStarted);
    await happens(experiment, stopRequested());
    await happens(search, completed(SearchCompletion.CANCELED));
    await happens("allocation-12.1#1", finished);
    await continueIt();
    await happens(search, searchContinued(1, [1]));
    expect(await endOf("trial-12.1", 3)).toBe("TrialEnded TrialContinued TrialEnded");
    const end = (await stage.stream("trial-12.1")).at(-1);
    expect(end).toMatchObject({ data: { outcome: TrialOutcome.COMPLETED } });
  });

  test("continues no trial if it is killed before its search has answered", async () => {
    await endedExperiment();
    await continueIt();
    await happens(experiment, stopRequested(StopKind.KILL));
    expect(await endOf(experiment, 1)).toBe("ExperimentEnded");
    await happens(search, searchContinued(1, [1]), completed(SearchCompletion.CANCELED));
    expect(await stage.names("trial-12.1")).not.toContain("TrialContinued");
    // The next continuation includes the trial.
    expect(await continueIt()).toBe(experiment);
    await happens(search, searchContinued(2, [1]));
    expect(await endOf("trial-12.1", 2)).toBe("TrialContinued RunRequested");
  });

  test("is refused a continuation if it has nothing to continue", async () => {
    expect(await continueIt()).toBe("experiment_not_found");
    await happens(experiment, experimentCreated(random), activated);
    expect(await continueIt()).toBe("experiment_not_ended");
    await happens(search, trialProposed(1));
    await happens("allocation-12.1#1", allocationStarted, finished);
    await happens(search, outcomeRecorded(1, TrialOutcome.COMPLETED));
    await happens(search, completed(SearchCompletion.EXHAUSTED));
    expect(await continueIt()).toBe("nothing_to_continue");
    expect(await continueIt({ maxTrials: 1 })).toBe("invalid_request");
    expect(await continueIt({ maxTrials: 3 })).toBe(experiment);
  });
});

describe("one trial of an experiment", () => {
  test("is killed, and the others continue", async () => {
    await happens(experiment, experimentCreated(random), activated);
    await happens(search, trialProposed(1), trialProposed(2));
    await happens("allocation-12.1#1", allocationStarted);
    expect(await kill("12.1", "it diverges")).toBe("trial-12.1");
    expect(await endOf("trial-12.1", 2)).toBe("TrialKillRequested RunStopRequested");
    await happens("allocation-12.1#1", killed);
    const end = (await stage.stream("trial-12.1")).at(-1);
    const canceled = { outcome: TrialOutcome.CANCELED, reason: "it diverges" };
    expect(end).toMatchObject({ type: "TrialEnded", data: canceled });
    expect(await endOf("trial-12.2", 1)).toBe("RunRequested");
    expect(await kill("12.1")).toBe("");
    expect(await kill("12.9")).toBe("trial_not_found");
    expect(await kill("x")).toBe("trial_not_found");
  });

  test("is restarted while its experiment runs", async () => {
    await happens(experiment, experimentCreated(random), activated);
    await happens(search, trialProposed(1), trialProposed(2));
    expect(await restart("12.1")).toBe("trial_not_ended");
    await happens("allocation-12.1#1", allocationStarted, crashed);
    await happens(search, outcomeRecorded(1, TrialOutcome.FAILED));
    expect(await restart("12.1")).toBe(experiment);
    await happens(search, searchContinued(1, [1]));
    expect(await endOf("trial-12.1", 2)).toBe("TrialContinued RunRequested");
    expect(await restart("12.7")).toBe("trial_not_found");
  });

  test("that was killed is not killed again once it is restarted", async () => {
    await happens(experiment, experimentCreated(random), activated);
    await happens(search, trialProposed(1), trialProposed(2));
    await kill("12.1");
    await happens("allocation-12.1#1", killed);
    await happens(search, outcomeRecorded(1, TrialOutcome.CANCELED));
    await restart("12.1");
    await happens(search, searchContinued(1, [1]));
    expect(await endOf("trial-12.1", 2)).toBe("TrialContinued RunRequested");
  });
});

describe("an experiment whose trials begin from another experiment's checkpoint", () => {
  const source = { source_trial_id: "7.3", source_checkpoint_uuid: checkpointB };
  const condemned = {
    type: "CheckpointCondemned",
    data: {
      competitors: [],
      referencesChecked: [],
      graceEndMs: 0,
      experiment: "7",
      by: "",
      reason: "",
    },
  } as const;
  const act = async (dryRun: boolean) => {
    const table = commandTable(stage.executor, memoryIds(), {
      clock: systemClock,
      deletionGraceMs: 60_000,
    });
    const handler = commandHandlers("experiments", table, pino({ enabled: false }))[
      "ActOnExperiments"
    ];
    const request = { experiments: ["12", "13"], verb: "continue", reason: "", dryRun };
    const headers = { commitId: newEventId(), authid: "u1", traceparent: "", correlationid: "" };
    const body = encodeRequest("experiments", "ActOnExperiments", request);
    const reply = await handler?.({ headers, body, isLate: () => false });
    await stage.settle();
    if (reply?.kind !== "ok") throw new Error(reply?.kind);
    const { items } = decodeReply("experiments", "ActOnExperiments", reply.body);
    return items.map(({ experiment, changed, code }) => [experiment, changed, code]);
  };

  beforeEach(async () => {
    await happens(`checkpoint-${checkpointB}`, checkpointCompleted(1, 100));
    const begins = { ...random, searcher: { ...random.searcher, ...source } };
    await happens(experiment, experimentCreated(begins), activated);
    await happens(search, trialProposed(1), trialProposed(2));
    await happens("allocation-12.1#1", allocationStarted);
    await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 200));
    await happens("allocation-12.1#1", crashed);
    await happens("allocation-12.2#1", allocationStarted, crashed);
    await happens(search, outcomeRecorded(1, TrialOutcome.FAILED));
    await happens(search, outcomeRecorded(2, TrialOutcome.FAILED));
    await happens(search, completed(SearchCompletion.EXHAUSTED));
    expect((await stage.names(experiment)).at(-1)).toBe("ExperimentEnded");
  });

  test("does not continue once that checkpoint is deleted, and nothing is recorded", async () => {
    await happens(`retention-${checkpointB}`, condemned);
    expect(await continueIt()).toBe("checkpoint_deleted");
    expect(await continueIt({ maxTrials: 4 })).toBe("checkpoint_deleted");
    expect(await restart("12.2")).toBe("checkpoint_deleted");
    expect((await stage.names(experiment)).at(-1)).toBe("ExperimentEnded");
  });

  test("restarts a trial that has a checkpoint of its own", async () => {
    await happens(`retention-${checkpointB}`, condemned);
    expect(await restart("12.1")).toBe(experiment);
    expect((await stage.names(experiment)).at(-1)).toBe("ExperimentContinued");
  });

  test("continues while that checkpoint exists", async () => {
    expect(await continueIt()).toBe(experiment);
  });

  test("continues in a bulk act, which reports the outcome for each", async () => {
    const outcomes = [
      ["12", true, ""],
      ["13", false, "experiment_not_found"],
    ];
    expect(await act(true)).toEqual(outcomes);
    expect((await stage.names(experiment)).at(-1)).toBe("ExperimentEnded");
    expect(await act(false)).toEqual(outcomes);
    expect((await stage.names(experiment)).at(-1)).toBe("ExperimentContinued");
    await happens(experiment, {
      type: "ExperimentEnded",
      data: { outcome: ExperimentOutcome.CANCELED, reason: "" },
    });
    await happens(`retention-${checkpointB}`, condemned);
    expect((await act(true))[0]).toEqual(["12", false, "checkpoint_deleted"]);
  });
});
