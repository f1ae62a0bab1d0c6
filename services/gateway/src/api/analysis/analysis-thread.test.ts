import { performance } from "node:perf_hooks";
import { encodeEvent, type EventOf } from "@trainyard/contracts";
import { type EventLog, newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { beforeEach, expect, test } from "vitest";
import { searchStarted } from "../../testing/example-events.ts";
import { AnalysisThread } from "./analysis-thread.ts";
import { SearchAnalyses } from "./search-analyses.ts";

const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
const space = Object.fromEntries(
  names.map((name) => [name, { type: "double", minval: 0, maxval: 1, count: null }]),
);
const started = (): EventOf<"SearchStarted"> => {
  const event = searchStarted();
  return { ...event, data: { ...event.data, space } };
};

/** The events of a trial whose value is its first hyperparameter. */
function trial(
  number: number,
): readonly (EventOf<"TrialProposed"> | EventOf<"ObservationRecorded">)[] {
  const hyperparameters = Object.fromEntries(
    names.map((name, index) => [name, ((number * (7 + 12 * index)) % 1_009) / 1_009]),
  );
  const value = hyperparameters["a"] ?? 0;
  return [
    {
      type: "TrialProposed",
      data: { number, hyperparameters, seed: 1, searchVersion: number, origin: "drawn" },
    },
    {
      type: "ObservationRecorded",
      data: {
        ...{ trial: number, run: 1, time: 1, values: { loss: value } },
        ...{ measurement: `m-${number}`, repeat: false },
      },
    },
  ];
}

const trials = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => trial(from + index)).flat();

const meta = {
  source: "/trainyard/test",
  ...{ workspace: "", correlationid: "", causationid: "", authid: "", traceparent: "" },
};

let log: EventLog;

beforeEach(() => {
  log = createMemoryLog().as("searcher");
});

async function append(
  experiment: string,
  expectedVersion: number,
  events: readonly Parameters<typeof encodeEvent>[0][],
): Promise<void> {
  for (let from = 0; from < events.length; from += 1_000) {
    const some = events.slice(from, from + 1_000);
    const encoded = some.map((event) => ({ id: newEventId(), ...encodeEvent(event) }));
    const stream = `search-${experiment}`;
    const writes = [{ stream, expectedVersion: expectedVersion + from, events: encoded }];
    await log.append({ commitId: newEventId(), writes, guards: [], meta });
  }
}

test("the event loop stays free while a large search is analysed, and a second question costs nothing", async () => {
  const count = 10_000;
  await append("1", 0, [started(), ...trials(1, count)]);
  await using thread = new AnalysisThread(log);
  // The events are in the thread before the analysis is asked for.
  await thread.of("1", "best");
  const before = performance.eventLoopUtilization();
  const beganMs = performance.now();
  const importance = await thread.of("1", "importance");
  expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.5);
  expect(importance).toMatchObject({ trials: count });
  expect(importance.items[0]).toMatchObject({ hyperparameter: "a" });
  const computedMs = performance.now() - beganMs;
  expect(await thread.of("1", "importance")).toEqual(importance);
  expect(performance.now() - beganMs - computedMs).toBeLessThan(computedMs / 2);
});

test("an analysis continues with new events, also after the thread was lost", async () => {
  await append("1", 0, [started(), ...trials(1, 19)]);
  {
    await using thread = new AnalysisThread(log);
    expect(await thread.of("1", "importance")).toMatchObject({ trials: 19, items: [] });
    await append("1", 39, trials(20, 600));
    const asked = ["importance", "best", "front", "rated"] as const;
    const [importance] = await Promise.all(asked.map((name) => thread.of("1", name)));
    expect(importance).toMatchObject({ trials: 600 });
  }
  await using another = new AnalysisThread(log);
  expect(await another.of("1", "importance")).toMatchObject({ trials: 600 });
});

/** Asks for the importance of a search after its events. */
const asked = (
  experiment: string,
  after: number | null,
  events: readonly Parameters<typeof encodeEvent>[0][],
) => ({
  ...{ experiment, after, name: "importance" as const },
  events: events.map((event) => ({ ...encodeEvent(event), timeMs: 0 })),
});

test("an analysis is kept until its search has a new event", () => {
  const analyses = new SearchAnalyses(1_000_000);
  const { version, analysis } = analyses.answer(asked("1", 0, [started(), ...trials(1, 50)]));
  expect(analyses.answer(asked("1", version, [])).analysis).toBe(analysis);
  const next = analyses.answer(asked("1", version, trials(51, 51)));
  expect(next.analysis).toMatchObject({ trials: 51 });
  expect(analyses.answer(asked("1", version, trials(51, 51)))).toEqual({
    version: next.version,
    analysis: null,
  });
});

test("searches are kept by bytes, and a larger one is kept alone", () => {
  const analyses = new SearchAnalyses(20_000);
  const knows = (experiment: string): boolean =>
    analyses.answer(asked(experiment, null, [])).version > 0;
  for (const experiment of ["1", "2"]) {
    analyses.answer(asked(experiment, 0, [started(), ...trials(1, 20)]));
  }
  expect([knows("1"), knows("2")]).toEqual([true, true]);
  analyses.answer(asked("3", 0, [started(), ...trials(1, 200)]));
  expect(analyses.answer(asked("3", 401, [])).analysis).toMatchObject({ trials: 200 });
  expect([knows("1"), knows("2")]).toEqual([false, false]);
});
