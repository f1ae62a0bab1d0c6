/** Tests of the work beside the reactions: one failing search stops no other, and budgets follow the log's clock. */
import type { EventOf } from "@trainyard/contracts";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { type Clock, Fault } from "@trainyard/kernel";
import { Stage } from "@trainyard/runtime/stage";
import { answerTo, type OfferSuggestion, type Question } from "@trainyard/search";
import { TrialOutcome } from "@trainyard/contracts/events";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exampleConfig, experimentCreated, trialEnded } from "../testing/examples.ts";
import { limits } from "../limits.ts";
import { reactionHandlers } from "./reactions.ts";
import { RunIndex } from "./run-index.ts";
import { SideLoops } from "./side-loops.ts";

const logger = pino({ enabled: false });
const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;
const wallSeconds = 60;

let clock: ManualClock;
/** How far the log's clock is ahead of the host's. */
let aheadMs: number;
let stage: Stage;
let sideLoops: SideLoops;
let stop: AbortController;
let seen: number;
/** Thrown by every commit of the service; null for none. */
let failure: (() => Error) | null;
/** Changes the answers of the model. */
let answered: (question: Question, offer: OfferSuggestion) => OfferSuggestion;

beforeEach(() => {
  clock = new ManualClock();
  aheadMs = 0;
  failure = null;
  answered = (_, offer) => offer;
  const log = createMemoryLog({
    clock: { nowMs: () => clock.nowMs() + aheadMs },
    beforeCommit: ({ meta }) => {
      if (failure !== null && meta.source === "/trainyard/searcher") throw failure();
    },
  });
  stage = new Stage("searcher", (s) => reactionHandlers(new RunIndex(s.log), s.log), log.as("s"));
});

afterEach(() => stop.abort());

/** Starts a leader, which knows only the log. */
async function takeOver(host: Clock = clock): Promise<void> {
  stop?.abort();
  stop = new AbortController();
  stage.afresh();
  const { log, executor } = stage;
  const model = { answer: async (question: Question) => answered(question, answerTo(question)) };
  const deps = { log, executor, clock: host, logger, onParked() {}, model };
  sideLoops = await SideLoops.open({ ...deps, telemetry: { suggestionTook() {} } });
  for (const loop of sideLoops.loops) void loop.run(stop.signal);
  seen = await log.head();
  await clock.advance(0);
}

/** Reacts to all events, and waits until the loops are idle. */
async function settle(): Promise<void> {
  for (;;) {
    await stage.settle();
    const events = await stage.log.readAll(seen, 10_000);
    for (const event of events) sideLoops.observe(event);
    seen += events.length;
    await clock.advance(0);
    if (seen === (await stage.log.head())) return;
  }
}

async function passes(ms: number): Promise<void> {
  await clock.advance(ms);
  await settle();
}

function created(config: object): EventOf<"ExperimentCreated"> {
  const { type, data } = experimentCreated();
  return { type, data: { ...data, config: { ...data.config, ...config } } };
}

const wallTime = { name: "budget", max_wall_time: wallSeconds, max_slot_hours: null };
const withBudget = created({ early_stopping: [{ ...wallTime, max_trials: null }] });

const isStopped = async (id: number): Promise<boolean> =>
  (await stage.names(`search-${id}`)).includes("SearchStopDecided");

const wrong = (hours: number): Clock => ({
  nowMs: () => clock.nowMs() + hours * hourMs,
  monotonicMs: () => clock.monotonicMs(),
  timer: (ms, callback) => clock.timer(ms, callback),
});

describe("a budget of time", () => {
  test("ends its search although the log fails for a second when it is spent", async () => {
    await takeOver();
    await stage.tell("experiment-12", withBudget);
    await settle();
    await passes(wallSeconds * 1_000 - 10);
    failure = () => new Fault("away", "the log is away", { retry: "later" });
    await clock.advance(1_000);
    expect(await isStopped(12)).toBe(false);
    failure = null;
    await passes(2_000);
    expect(await isStopped(12)).toBe(true);
  });

  test.each([-26, 26])(
    "lasts as long on a host whose clock is %d hours off the log's",
    async (h) => {
      await takeOver(wrong(h));
      await stage.tell("experiment-12", withBudget);
      await settle();
      await passes(wallSeconds * 1_000 - 10);
      expect(await isStopped(12)).toBe(false);
      await passes(10);
      expect(await isStopped(12)).toBe(true);
    },
  );

  test("ends its search although the log's time stalls, as its clock was once ahead", async () => {
    await takeOver();
    aheadMs = yearMs;
    await stage.tell("experiment-11", created({}));
    aheadMs = 0;
    await stage.tell("experiment-12", withBudget);
    await settle();
    for (let second = 1; second < wallSeconds; second += 1) {
      await stage.tell(`experiment-${100 + second}`, created({}));
      await passes(1_000);
    }
    expect(await isStopped(12)).toBe(false);
    await passes(1_000);
    expect(await isStopped(12)).toBe(true);
  });

  test("that cannot be looked at is parked under its experiment, and the others end their searches", async () => {
    await takeOver();
    await stage.tell("experiment-12", withBudget);
    await stage.tell("experiment-13", withBudget);
    await settle();
    const { cache } = stage.executor;
    const load = cache.load.bind(cache);
    let isBroken = true;
    cache.load = ((fold: never, id: string) => {
      if (isBroken && id === "12") throw new Error("a bug");
      return load(fold, id);
    }) as never;
    await passes(wallSeconds * 1_000);
    expect(await isStopped(13)).toBe(true);
    const parked = await stage.log.parked("searcher");
    expect(parked).toMatchObject([{ key: "12", reason: "budgets: Error: a bug" }]);
    const budgets = sideLoops.loops.at(-1);
    expect(await budgets?.retryParked("12")).toBe("budgets: Error: a bug");
    isBroken = false;
    expect(await budgets?.retryParked("12")).toBeNull();
    await settle();
    expect(await isStopped(12)).toBe(true);
    expect(await stage.log.parked("searcher")).toEqual([]);
  });
});

test("a suggestion that the log refuses is dropped, and the other searches get theirs", async () => {
  await takeOver();
  answered = (question, offer) => {
    const evidence = { ...offer.evidence, note: "x".repeat(300_000) };
    return question.plan.seed === 12 ? { ...offer, evidence } : offer;
  };
  const searcher = { ...exampleConfig.searcher, name: "gp", max_trials: 30 };
  for (const id of [12, 13]) {
    const { type, data } = created({ searcher: { ...searcher, max_concurrent_trials: 1 } });
    await stage.tell(`experiment-${id}`, { type, data: { ...data, seed: id } });
    await settle();
  }
  const proposals = async (id: number) =>
    (await stage.names(`search-${id}`)).filter((name) => name === "TrialProposed").length;
  for (let trial = 1; trial <= 12; trial += 1) {
    for (const id of [12, 13]) {
      const scalars = { loss: (trial * 7) % 5 };
      const report = { run: 0, step: 1, scalars, reportKey: "0", nonNumeric: [] };
      const data = { trial: `${id}.${trial}`, ...report };
      await stage.tell(`measurement-${id}.${trial}`, { type: "ValidationReported", data });
      await stage.tell(`trial-${id}.${trial}`, trialEnded(TrialOutcome.COMPLETED));
    }
    await settle();
    // The search whose suggestions are refused continues without them.
    await passes(limits.suggestionWaitMs);
  }
  expect(await proposals(12)).toBe(13);
  expect(await proposals(13)).toBe(13);
  const origins = (await stage.stream("search-13")).flatMap((event) =>
    event.type === "TrialProposed" ? [event.data.origin] : [],
  );
  expect(origins.at(-1)).toBe("model");
});
