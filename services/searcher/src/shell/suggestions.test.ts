import type { EventData, EventOf } from "@trainyard/contracts";
import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import { newEventId } from "@trainyard/event-log";
import { LogFold, savedLogFold } from "@trainyard/runtime";
import { Stage } from "@trainyard/runtime/stage";
import { answerTo, type OfferSuggestion, type Question } from "@trainyard/search";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { beforeEach, describe, expect, test } from "vitest";
import { exampleConfig, experimentCreated, trialEnded } from "../testing/examples.ts";
import { limits } from "../limits.ts";
import { sideLoopCheck, sideLoopSearches } from "./side-loop-searches.ts";
import type { SuggestingModel } from "./model/model.ts";
import { reactionHandlers } from "./reactions.ts";
import { RunIndex } from "./run-index.ts";
import { Suggestions } from "./suggestions.ts";

const logger = pino({ enabled: false });

/** A model whose answers the test releases. */
class HeldModel implements SuggestingModel {
  readonly questions: Question[] = [];
  readonly #held: { answer: () => void; fail: () => void }[] = [];

  answer(question: Question): Promise<OfferSuggestion> {
    this.questions.push(question);
    return new Promise((resolve, reject) => {
      const answer = () => resolve(answerTo(question));
      this.#held.push({ answer, fail: () => reject(new Error("the model is ill")) });
    });
  }

  answerNext(): void {
    this.#held.shift()?.answer();
  }

  failNext(): void {
    this.#held.shift()?.fail();
  }
}

let stage: Stage;
let clock: ManualClock;
let model: HeldModel;
let stop: AbortController;
let searches: LogFold<number>;
let suggestions: Suggestions;

beforeEach(async () => {
  stage = new Stage("searcher", ({ log }) => reactionHandlers(new RunIndex(log), log));
  clock = new ManualClock();
  await takeOver();
});

/** Starts a new leader, which knows only the log. */
async function takeOver(): Promise<void> {
  stop?.abort();
  stop = new AbortController();
  stage.afresh();
  model = new HeldModel();
  const telemetry = { suggestionTook() {} };
  const { log, executor } = stage;
  searches = await LogFold.open({ log, logger }, sideLoopSearches);
  const deps = { log, executor, clock, logger, onParked() {} };
  suggestions = new Suggestions({ ...deps, telemetry, model }, searches);
  void suggestions.loop.run(stop.signal);
  seen = await stage.log.head();
  await clock.advance(0);
}

let seen = 0;

/** Reacts to all events, and waits until the loop is idle. */
async function settle(): Promise<void> {
  for (;;) {
    await stage.settle();
    const events = await stage.log.readAll(seen, 10_000);
    for (const event of events) {
      searches.observe(event);
      suggestions.observe(event);
    }
    seen += events.length;
    await clock.advance(0);
    if (seen === (await stage.log.head())) return;
  }
}

function created(searcher: object): EventOf<"ExperimentCreated"> {
  const example = experimentCreated();
  const config = { ...exampleConfig, searcher: { ...exampleConfig.searcher, ...searcher } };
  return { ...example, data: { ...example.data, config } };
}

async function endTrial(experiment: number, trial: number): Promise<void> {
  const id = `${experiment}.${trial}`;
  const scalars = { loss: (trial * 7) % 5 };
  const report = { trial: id, run: 0, step: 1, scalars, reportKey: "0", nonNumeric: [] };
  await stage.tell(`measurement-${id}`, { type: "ValidationReported", data: report });
  await stage.tell(`trial-${id}`, trialEnded(TrialOutcome.COMPLETED));
  await settle();
}

async function proposals(experiment: number): Promise<readonly EventData<"TrialProposed">[]> {
  const events = await stage.stream(`search-${experiment}`);
  return events.flatMap((event) => (event.type === "TrialProposed" ? [event.data] : []));
}

/** Makes a search of which `ended` trials have ended, one after the other. */
async function sequential(ended: number, experiment = 12): Promise<void> {
  await stage.tell(
    `experiment-${experiment}`,
    created({ name: "gp", max_trials: 30, max_concurrent_trials: 1 }),
  );
  await settle();
  for (let trial = 1; trial <= ended; trial += 1) await endTrial(experiment, trial);
}

describe("a free place of a search", () => {
  test("gets the model's suggestion, and the proposal has the evidence", async () => {
    await sequential(8);
    expect(await proposals(12)).toHaveLength(8);
    model.answerNext();
    await settle();
    const evidence = { results: 8, lacking: 0, mean: expect.any(Number) };
    expect((await proposals(12)).at(-1)).toMatchObject({ number: 9, origin: "model", evidence });
  });

  test("is filled without a suggestion after the longest wait, and a late suggestion is ignored", async () => {
    await sequential(8);
    await clock.advance(limits.suggestionWaitMs - 1);
    await settle();
    expect(await proposals(12)).toHaveLength(8);
    await clock.advance(1);
    await settle();
    const evidence = { reason: "no_suggestion_in_time", waited_ms: limits.suggestionWaitMs };
    expect((await proposals(12)).at(-1)).toMatchObject({ origin: "space_filling", evidence });
    const before = await stage.names("search-12");
    model.answerNext();
    await settle();
    expect(await stage.names("search-12")).toEqual(before);
  });

  test("causes a second question after a failure of the model", async () => {
    await sequential(8);
    model.failNext();
    await settle();
    expect(model.questions).toHaveLength(1);
    await clock.advance(limits.askAgainMs);
    expect(model.questions).toHaveLength(2);
    expect(model.questions[1]).toEqual(model.questions[0]);
  });
});

describe("a model that does not answer", () => {
  test("delays neither its search's reports nor any other search", async () => {
    await sequential(8);
    expect(model.questions).toHaveLength(1);
    await stage.tell("experiment-13", created({ max_trials: 60, max_concurrent_trials: 1 }));
    await settle();
    for (let trial = 1; trial <= 50; trial += 1) await endTrial(13, trial);
    expect(await proposals(13)).toHaveLength(51);
    expect(await proposals(12)).toHaveLength(8);
  });

  test("has only one open question per search", async () => {
    const searcher = { name: "gp", max_trials: 30, max_concurrent_trials: 8 };
    await stage.tell("experiment-12", created(searcher));
    await settle();
    for (let trial = 1; trial <= 11; trial += 1) await endTrial(12, trial);
    expect(model.questions.map(({ trial, results }) => [trial, results])).toEqual([[16, 8]]);
    model.answerNext();
    await settle();
    // A suggestion from 8 of 11 results is ignored while four trials run; a new question has all results.
    expect(model.questions.map(({ trial, results }) => [trial, results])).toEqual([
      [16, 8],
      [16, 11],
    ]);
  });
});

describe("a new leader that takes over during a computation", () => {
  test("asks the same question, and the same trial follows", async () => {
    await sequential(8);
    const [before] = model.questions;
    await takeOver();
    expect(model.questions).toEqual([before]);
    model.answerNext();
    await settle();
    const [offer] = [answerTo(before as Question)];
    expect((await proposals(12)).at(-1)?.hyperparameters).toEqual(offer.hyperparameters);
  });

  test("restarts the wait of a free place", async () => {
    await sequential(8);
    await clock.advance(limits.suggestionWaitMs - 1);
    await takeOver();
    await clock.advance(limits.suggestionWaitMs);
    await settle();
    expect((await proposals(12)).at(-1)?.origin).toBe("space_filling");
  });
});

test("the list of searches with a model is saved, and the check detects an altered one", async () => {
  await sequential(1);
  await stage.tell("experiment-13", created({}));
  await settle();
  const { log } = stage;
  const deps = { log, logger };
  const begun = (await log.readAll(0, seen)).find(({ stream }) => stream === "search-12")?.position;
  await searches.save();
  const saved = await savedLogFold(deps, sideLoopSearches);
  expect(saved).toMatchObject({ position: seen, entries: { 12: begun } });
  const check = sideLoopCheck(log, logger);
  expect(await check.run(stop.signal)).toEqual({ position: seen, finding: "" });
  await stage.tell("search-12", {
    type: "SearchCompleted",
    data: { reason: SearchCompletion.CANCELED },
  });
  expect((await LogFold.open(deps, sideLoopSearches)).entries.size).toBe(0);
  const { stream, schema } = sideLoopSearches;
  const altered = (event: string) => {
    const text = JSON.stringify({ event, position: seen, entries: { 13: 1 } });
    return log.saveSnapshot(stream, 0, schema, text);
  };
  await altered(newEventId());
  // The saved list is of another history of the log.
  expect(await savedLogFold(deps, sideLoopSearches)).toMatchObject({ position: 0, entries: {} });
  await altered((await log.readAll(seen - 1, 1))[0]?.id ?? "");
  expect((await check.run(stop.signal)).finding).toContain("13");
});
