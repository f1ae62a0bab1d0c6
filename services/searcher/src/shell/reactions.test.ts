import type { EventData, EventOf } from "@trainyard/contracts";
import { SearchCompletion, StopKind, TrialOutcome } from "@trainyard/contracts/events";
import { Stage } from "@trainyard/runtime/stage";
import { beforeEach, describe, expect, test } from "vitest";
import {
  exampleConfig,
  experimentCreated,
  populationConfig,
  trialEnded,
} from "../testing/examples.ts";
import { limits } from "../limits.ts";
import { reactionHandlers } from "./reactions.ts";
import { RunIndex } from "./run-index.ts";
import { searches } from "../streams.ts";
import { saveSnapshots } from "./snapshots.ts";
import { pino } from "pino";

let stage: Stage;

beforeEach(() => {
  stage = new Stage("searcher", ({ log }) => reactionHandlers(new RunIndex(log), log));
});

function runRequested(run: number): EventOf<"RunRequested"> {
  const data = {
    fromCheckpoint: "",
    fromStep: 0,
    preemptible: true,
    experiment: "12",
    delayMs: 0,
    workspace: "",
    owner: "",
  };
  return { type: "RunRequested", data: { ...data, run } };
}

function validation(
  run: number,
  step: number,
  loss: number,
  trial = "12.1",
): EventOf<"ValidationReported"> {
  const data = { trial, run, step, scalars: { loss }, reportKey: `0-${step}`, nonNumeric: [] };
  return { type: "ValidationReported", data };
}

const stopRequested: EventOf<"ExperimentStopRequested"> = {
  type: "ExperimentStopRequested",
  data: { kind: StopKind.KILL, reason: "" },
};

async function happens(stream: string, ...events: Parameters<Stage["tell"]>[1][]): Promise<void> {
  await stage.tell(stream, ...events);
  await stage.settle();
}

async function observations(): Promise<readonly EventData<"ObservationRecorded">[]> {
  const events = await stage.stream("search-12");
  return events.flatMap((event) => (event.type === "ObservationRecorded" ? [event.data] : []));
}

describe("a search", () => {
  test("starts with its experiment and proposes as many trials as may run at once", async () => {
    await happens("experiment-12", experimentCreated());
    expect(await stage.names("search-12")).toEqual([
      "SearchStarted",
      "TrialProposed",
      "TrialProposed",
    ]);
  });

  test("proposes another trial when one ends, and completes with the last one", async () => {
    await happens("experiment-12", experimentCreated());
    await happens("trial-12.1", runRequested(1));
    await happens("measurement-12.1", validation(1, 10, 0.5));
    await happens("trial-12.1", trialEnded(TrialOutcome.COMPLETED));
    await happens("trial-12.2", trialEnded(TrialOutcome.FAILED));
    await happens("trial-12.3", trialEnded(TrialOutcome.COMPLETED));
    expect((await stage.stream("search-12")).at(-1)).toEqual({
      type: "SearchCompleted",
      data: { reason: SearchCompletion.EXHAUSTED, bestTrial: 1, bestValue: 0.5 },
    });
  });

  test("proposes the same trials for the same seed, however often the service crashed", async () => {
    const proposals = async () => {
      const events = await stage.stream("search-12");
      return events.filter(({ type }) => type === "TrialProposed");
    };
    await happens("experiment-12", experimentCreated());
    await happens("trial-12.1", trialEnded(TrialOutcome.COMPLETED));
    const undisturbed = await proposals();
    stage = new Stage("searcher", ({ log }) => reactionHandlers(new RunIndex(log), log));
    await stage.tell("experiment-12", experimentCreated());
    stage.afresh();
    await stage.settle();
    stage.afresh();
    await happens("trial-12.1", trialEnded(TrialOutcome.COMPLETED));
    expect(await proposals()).toEqual(undisturbed);
  });

  test("is canceled with its experiment and proposes no trial after that", async () => {
    await happens("experiment-12", experimentCreated(), stopRequested);
    await happens("trial-12.1", trialEnded(TrialOutcome.CANCELED));
    expect((await stage.stream("search-12")).at(-1)).toMatchObject({
      type: "SearchCompleted",
      data: { reason: SearchCompletion.CANCELED },
    });
  });

  test("with an unknown algorithm is parked with the reason", async () => {
    const strange = {
      ...experimentCreated().data,
      config: { ...exampleConfig, searcher: { name: "tarot" } },
    };
    await stage.tell("experiment-12", { type: "ExperimentCreated", data: strange });
    await expect(stage.settle()).rejects.toThrow("tarot");
  });
});

describe("a population", () => {
  const member = (trial: number, event: EventOf<"RunRequested" | "TrialCheckpointed">) =>
    happens(`trial-12.${trial}`, event);
  const checkpointed = (checkpoint: string, step: number): EventOf<"TrialCheckpointed"> => ({
    type: "TrialCheckpointed",
    data: { checkpoint, run: 1, step },
  });

  test("copies a member from the latest checkpoint in the log", async () => {
    await happens("experiment-12", {
      ...experimentCreated(),
      data: { ...experimentCreated().data, config: populationConfig },
    });
    for (const trial of [1, 2]) await member(trial, runRequested(1));
    await happens("measurement-12.1", validation(1, 10, 0.1));
    await member(1, checkpointed("c-10", 10));
    await member(1, checkpointed("c-10", 10));
    await happens("measurement-12.2", validation(1, 10, 0.9, "12.2"));
    const events = await stage.stream("search-12");
    expect(events.filter(({ type }) => type === "CheckpointObserved")).toHaveLength(1);
    expect(events.slice(-2)).toMatchObject([
      { type: "TrialStopDecided", data: { trial: 2, rule: "pbt_exploit" } },
      {
        type: "TrialProposed",
        data: { number: 3, startFromCheckpoint: "c-10", startFromStep: 10 },
      },
    ]);
  });

  test("is the only kind of search that reads checkpoints", async () => {
    await happens("experiment-12", experimentCreated());
    await member(1, checkpointed("c-10", 10));
    expect(await stage.names("search-12")).not.toContain("CheckpointObserved");
  });
});

describe("a search under hazards", () => {
  test("ignores a validation of run 1 after run 2 was requested", async () => {
    await happens("experiment-12", experimentCreated());
    await happens("trial-12.1", runRequested(1));
    await happens("measurement-12.1", validation(1, 10, 0.5));
    await happens("trial-12.1", runRequested(2));
    await happens("measurement-12.1", validation(1, 20, 0.1));
    expect(await observations()).toMatchObject([{ run: 1, time: 10 }]);
  });

  test("counts a validation of run 1 before run 2 was requested, however late it is read", async () => {
    await happens("experiment-12", experimentCreated());
    await stage.tell("trial-12.1", runRequested(1));
    await stage.tell("measurement-12.1", validation(1, 10, 0.5));
    await stage.tell("trial-12.1", runRequested(2));
    await stage.tell("measurement-12.1", validation(1, 20, 0.1), validation(2, 15, 0.4));
    stage.afresh();
    await stage.settle();
    expect(await observations()).toMatchObject([
      { run: 1, time: 10 },
      { run: 2, time: 15 },
    ]);
  });

  test("records a validation of run 2 at a step of run 1 as a repeat, which changes nothing", async () => {
    await happens("experiment-12", experimentCreated());
    await happens("trial-12.1", runRequested(1));
    await happens("measurement-12.1", validation(1, 10, 0.5));
    await happens("trial-12.1", runRequested(2));
    await happens("measurement-12.1", validation(2, 10, 0.1));
    expect(await observations()).toMatchObject([{ repeat: false }, { run: 2, repeat: true }]);
    const { cache } = stage.executor;
    const { state: shared } = await cache.load(searches, "12");
    expect(shared.committed().state.best?.value).toBe(0.5);
  });

  test("is completed if its experiment was killed before its first trial", async () => {
    await stage.tell("experiment-12", experimentCreated(), stopRequested);
    await stage.settle();
    expect((await stage.names("search-12")).at(-1)).toBe("SearchCompleted");
  });
});

describe("the snapshots of a search", () => {
  test("are saved as its stream grows, and a new leader makes the same decisions from one", async () => {
    await happens("experiment-12", experimentCreated());
    await happens("trial-12.1", runRequested(1));
    const many = Array.from({ length: limits.snapshotEveryEvents }, (_, n) =>
      validation(1, n + 1, 1 / (n + 1)),
    );
    await happens("measurement-12.1", ...many);
    const save = saveSnapshots(stage.executor.cache, pino({ enabled: false }));
    for (const event of await stage.log.read("search-12", 0, 10_000)) save(event);
    await expect.poll(() => stage.log.loadSnapshot("search-12", "search")).not.toBeNull();
    stage.afresh();
    const { state: shared, version } = await stage.executor.cache.load(searches, "12");
    const { best } = shared.committed().state;
    expect(version).toBe((await stage.names("search-12")).length);
    expect(best).toEqual({ trial: 1, value: 1 / limits.snapshotEveryEvents });
    await happens("trial-12.1", trialEnded(TrialOutcome.COMPLETED));
    expect((await stage.names("search-12")).at(-1)).toBe("TrialProposed");
  });
});
