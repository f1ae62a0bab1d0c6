import {
  answerTo,
  questionOf,
  type SearchCommand,
  SearchMachine,
  type Question,
} from "@trainyard/search";
import { TrialOutcome } from "@trainyard/contracts/events";
import { assert, isRejection } from "@trainyard/kernel";
import type { SearcherConfig } from "@trainyard/experiment-config";
import { afterEach, describe, expect, test } from "vitest";
import { inlineModel } from "./inline-model.ts";
import { ThreadModel } from "./thread-model.ts";
import type { SuggestingModel } from "./model.ts";

const thread = new ThreadModel();
afterEach(() => thread[Symbol.asyncDispose]());

/** Returns the question of a search after a number of trials. */
function questionAfter(trials: number): Question {
  const search = new SearchMachine();
  const send = (command: SearchCommand): void => {
    assert(!isRejection(search.take(command)), "the search takes it");
    search.keep();
  };
  const searcher: SearcherConfig = {
    name: "gp",
    metric: "loss",
    smaller_is_better: true,
    max_trials: 300,
    max_concurrent_trials: 1,
  };
  const hyperparameters = { lr: { type: "double", minval: 0, maxval: 1, count: null } } as const;
  send({ type: "StartSearch", config: { searcher, hyperparameters }, seed: 3 });
  for (let trial = 1; trial <= trials; trial += 1) {
    const scalars = { loss: (trial * 7) % 11 };
    const run = { run: 1, currentRun: 1, step: 1, measurement: `m${trial}` };
    send({ type: "RecordValidation", trial, ...run, scalars });
    send({ type: "RecordOutcome", trial, outcome: TrialOutcome.COMPLETED });
    send({ type: "GoWithoutSuggestion", trial: trial + 1, waitedMs: 1 });
  }
  // The last place was filled without the model; the place that becomes free here asks for a suggestion.
  send({ type: "RecordOutcome", trial: trials + 1, outcome: TrialOutcome.COMPLETED });
  const question = questionOf(search.state);
  assert(question !== null, "the search asks");
  return question;
}

describe.each<[string, SuggestingModel]>([
  ["in a thread", thread],
  ["inline", inlineModel],
])("a model %s", (_, model) => {
  test("returns the same answer to the same question, however often it is asked", async () => {
    const question = questionAfter(12);
    const answers = await Promise.all([1, 2, 3].map(() => model.answer(question)));
    for (const answer of answers) expect(answer).toEqual(answerTo(question));
  });

  test("rejects an invalid question, and answers the next one", async () => {
    const question = questionAfter(12);
    await expect(model.answer({ ...question, known: null })).rejects.toThrow();
    expect(await model.answer(question)).toEqual(answerTo(question));
  });
});

describe("the worker thread of a model", () => {
  test("leaves the event loop free while it computes", async () => {
    await thread.answer(questionAfter(9));
    let turns = 0;
    let answered = false;
    const answers = [1, 2, 3, 4].map(() => thread.answer(questionAfter(150)));
    const done = Promise.all(answers).then(() => {
      answered = true;
    });
    while (!answered) {
      await new Promise(setImmediate);
      turns += 1;
    }
    await done;
    expect(turns).toBeGreaterThan(20);
  });

  test("is restarted after it has died", async () => {
    const question = questionAfter(9);
    const lost = expect(thread.answer(question)).rejects.toThrow(
      "the thread that computes suggestions ended",
    );
    await thread[Symbol.asyncDispose]();
    await lost;
    expect(await thread.answer(question)).toEqual(answerTo(question));
  });
});
