import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import { describe, expect, it } from "vitest";
import { budget } from "../testing/early-stopping.ts";
import { replaySearch } from "../replay/replay.ts";
import { encodeSearch } from "../snapshot.ts";
import { configOf, DrivenSearch, randomOf } from "../testing/searches.ts";
import { operationResults } from "./decide.ts";
import type { SearchOperation } from "./operations.ts";
import {
  customOf,
  finishOf,
  inSpace,
  posting,
  progressOf,
  proposal,
  resumptionOf,
  startedCustom,
  stopOf,
  suspensionOf,
} from "../testing/custom.ts";

const { COMPLETED, FAILED, STOPPED_EARLY } = TrialOutcome;

const names = (search: DrivenSearch): string[] => search.events.map(({ type }) => type);

/** Posts operations and returns the types of the recorded events. */
const post = (search: DrivenSearch, ...operations: SearchOperation[]): string[] =>
  search.send(posting(operations)).map(({ type }) => type);

/** Returns the rejection of a batch. */
function refusal(search: DrivenSearch, operations: readonly SearchOperation[], restsOn?: number) {
  return search.machine.decide(posting(operations, restsOn ?? null));
}

describe("a custom search", () => {
  it("waits for its client at the start and whenever no trial runs", () => {
    const search = startedCustom();
    expect(names(search)).toEqual(["SearchStarted"]);
    post(search, proposal("a"));
    search.end(1, COMPLETED);
    expect(search.completion()).toBe(undefined);
    expect(search.state.phase).toBe("running");
  });

  it("completes when it is canceled", () => {
    const search = startedCustom();
    search.send({ type: "CancelSearch" });
    expect(search.completion()).toEqual({ reason: SearchCompletion.CANCELED });
  });

  it("records the posted operations, then the decisions that follow", () => {
    const search = startedCustom();
    const operation = proposal("first");
    expect(search.send(posting([operation]))).toEqual([
      { type: "OperationsPosted", data: { operations: [operation] } },
      {
        type: "TrialProposed",
        data: expect.objectContaining({
          number: 1,
          hyperparameters: inSpace,
          origin: "client",
          evidence: { operation: "first" },
        }),
      },
    ]);
    expect(operationResults(search.state, [operation])).toEqual([
      { id: "first", trial: 1, version: 2 },
    ]);
  });

  it("stops a trial with the client's reason", () => {
    const search = startedCustom();
    post(search, proposal("a"));
    expect(search.send(posting([stopOf("b", 1, "it is hopeless")])).at(-1)).toEqual({
      type: "TrialStopDecided",
      data: { trial: 1, rule: "client", evidence: { operation: "b", reason: "it is hopeless" } },
    });
    // A stopped trial stays stopped, but the operation is recorded.
    expect(post(search, stopOf("c", 1))).toEqual(["OperationsPosted"]);
  });

  it("starts a trial from the checkpoint of another trial, even one of the same batch", () => {
    const search = startedCustom();
    post(search, proposal("a"), proposal("b", { startFromTrial: 1 }));
    expect(search.proposals()[1]).toMatchObject({ number: 2, startFromTrial: 1 });
  });
});

describe("a repeated post", () => {
  it("changes nothing and has the same answer, even together with new operations", () => {
    const search = startedCustom();
    const batch = [proposal("a"), progressOf("b", 0.5)];
    search.send(posting(batch));
    const answer = operationResults(search.state, batch);
    expect(search.send(posting(batch))).toEqual([]);
    expect(search.send(posting([...batch, proposal("c")], search.state.version))).toMatchObject([
      { type: "OperationsPosted", data: { operations: [{ id: "c" }] } },
      { type: "TrialProposed" },
    ]);
    expect(operationResults(search.state, batch)).toEqual(answer);
  });

  it("is accepted after the search has changed or completed", () => {
    const search = startedCustom();
    search.send(posting([proposal("a")], 1));
    expect(search.send(posting([proposal("a")], 1))).toEqual([]);
    search.send({ type: "CancelSearch" });
    expect(search.send(posting([proposal("a")]))).toEqual([]);
  });

  it("is refused if the operation under the same id is different", () => {
    const search = startedCustom();
    post(search, proposal("a"));
    const other = proposal("a", { hyperparameters: { lr: 0.02, units: 16 } });
    expect(refusal(search, [other])).toMatchObject({ rejected: "operation_id_reused" });
  });
});

describe("a target", () => {
  it("suspends the trial when it is reached, until the next target is posted", () => {
    const search = startedCustom();
    post(search, proposal("a", { target: 10 }));
    expect(search.validate(1, 5, 0.5)).toHaveLength(1);
    expect(search.validate(1, 10, 0.4).at(-1)).toMatchObject({
      type: "TrialSuspended",
      data: { trial: 1, rule: "target_reached", evidence: { target: 10, time: 10, value: 0.4 } },
    });
    expect(search.send(posting([resumptionOf("b", 1, { target: 20 })])).at(-1)).toMatchObject({
      type: "TrialResumed",
      data: { trial: 1, target: 20, rule: "client", evidence: { operation: "b" } },
    });
    expect(search.validate(1, 15, 0.3)).toHaveLength(1);
    expect(search.validate(1, 20, 0.3).at(-1)?.type).toBe("TrialSuspended");
    post(search, resumptionOf("c", 1));
    expect(search.validate(1, 1_000, 0.3)).toHaveLength(1);
  });

  it("ends the trial when it is reached if the operation says so", () => {
    const search = startedCustom();
    post(search, proposal("a", { target: 10, stopAtTarget: true }));
    expect(search.validate(1, 12, 0.5).at(-1)).toMatchObject({
      type: "TrialStopDecided",
      data: { rule: "target_reached" },
    });
  });

  it("takes effect at once if the trial has already reached it", () => {
    const search = startedCustom();
    post(search, proposal("a"), proposal("b"));
    search.validate(1, 12, 0.5);
    search.validate(2, 12, 0.5);
    expect(post(search, resumptionOf("c", 1, { target: 10 })).at(-1)).toBe("TrialSuspended");
    expect(post(search, resumptionOf("d", 2, { target: 10, stopAtTarget: true })).at(-1)).toBe(
      "TrialStopDecided",
    );
    // The trial is suspended already, so no decision follows.
    expect(post(search, resumptionOf("e", 1, { target: 11 }))).toEqual(["OperationsPosted"]);
    expect(post(search, resumptionOf("f", 1, { target: 11, stopAtTarget: true })).at(-1)).toBe(
      "TrialStopDecided",
    );
  });
});

describe("max_concurrent_trials", () => {
  it("queues proposals beyond the maximum, and starts them in order when places become free", () => {
    const search = startedCustom({ max_concurrent_trials: 1 });
    post(search, proposal("a"), proposal("b", { target: 7 }), proposal("c"));
    expect(search.proposals().map(({ waits }) => waits)).toEqual([undefined, true, true]);
    expect(search.end(1, COMPLETED).at(-1)).toMatchObject({
      type: "TrialResumed",
      data: { trial: 2, target: 7, rule: "place_free" },
    });
    // A trial that reaches its target gives its place to the next.
    expect(search.validate(2, 7, 0.5).slice(1)).toMatchObject([
      { type: "TrialSuspended", data: { trial: 2, rule: "target_reached" } },
      { type: "TrialResumed", data: { trial: 3 } },
    ]);
    // A trial that is resumed without a free place is suspended until one is free.
    expect(post(search, resumptionOf("d", 2)).at(-1)).toBe("TrialSuspended");
    expect(search.end(3, FAILED).at(-1)).toMatchObject({
      type: "TrialResumed",
      data: { trial: 2, target: Number.POSITIVE_INFINITY },
    });
  });

  it("skips waiting trials that the client suspended or stopped", () => {
    const search = startedCustom({ max_concurrent_trials: 1 });
    post(search, proposal("a"), proposal("b"), proposal("c"), proposal("d"));
    post(search, suspensionOf("e", 2), stopOf("f", 3));
    search.end(3, STOPPED_EARLY);
    expect(search.end(1, COMPLETED).at(-1)).toMatchObject({
      type: "TrialResumed",
      data: { trial: 4 },
    });
    search.end(4, COMPLETED);
    expect(search.events.at(-1)?.type).toBe("TrialOutcomeRecorded");
    expect(post(search, resumptionOf("g", 2)).at(-1)).toBe("TrialResumed");
  });
});

describe("finishing a custom search", () => {
  it("stops the running trials, and completes the search at the last end, whatever the outcomes", () => {
    const search = startedCustom();
    post(search, proposal("a"), proposal("b"));
    expect(post(search, finishOf("c", { reason: "good enough" }))).toEqual([
      "OperationsPosted",
      "SearchStopDecided",
      "TrialStopDecided",
      "TrialStopDecided",
    ]);
    search.end(1, FAILED);
    search.end(2, FAILED);
    expect(search.completion()?.reason).toBe(SearchCompletion.EXHAUSTED);
  });

  it("lets running trials end if the client says so, but ends suspended ones, which no one could resume", () => {
    const search = startedCustom();
    post(search, proposal("a"), proposal("b"), proposal("e", { target: 9 }), suspensionOf("c", 2));
    expect(post(search, finishOf("d", { letTrialsEnd: true })).slice(1)).toEqual([
      "SearchStopDecided",
      "TrialStopDecided",
    ]);
    search.end(2, STOPPED_EARLY);
    expect(search.validate(3, 9, 0.1).at(-1)?.type).toBe("TrialStopDecided");
    search.end(3, STOPPED_EARLY);
    search.end(1, COMPLETED);
    expect(search.completion()?.reason).toBe(SearchCompletion.EXHAUSTED);
  });

  it("makes the search fail if finished as failed, even without a trial", () => {
    const search = startedCustom();
    expect(post(search, finishOf("a", { failed: true, reason: "no data" })).slice(1)).toEqual([
      "SearchStopDecided",
      "SearchCompleted",
    ]);
    expect(search.completion()?.reason).toBe(SearchCompletion.FAILED);
  });
});

describe("early stopping of a custom search", () => {
  const limited = (more: Parameters<typeof budget>[0], searcher = customOf()): DrivenSearch => {
    const search = new DrivenSearch();
    const config = configOf(searcher, undefined, [budget(more)]);
    search.send({ type: "StartSearch", config, seed: 1, atMs: 1_000 });
    return search;
  };

  it("ends a search without an active client by max_wall_time, with or without trials", () => {
    const silent = limited({ max_wall_time: 60 });
    expect(silent.send({ type: "NoteTime", atMs: 60_999 })).toEqual([]);
    silent.send({ type: "NoteTime", atMs: 61_000 });
    expect(silent.completion()?.reason).toBe(SearchCompletion.EXHAUSTED);
    const resting = limited({ max_wall_time: 60 });
    post(resting, proposal("a", { target: 1 }));
    resting.validate(1, 1, 0.5);
    resting.send({ type: "NoteTime", atMs: 61_000 });
    resting.end(1, STOPPED_EARLY);
    expect(resting.completion()?.reason).toBe(SearchCompletion.EXHAUSTED);
  });

  it("refuses trials beyond max_trials of a budget, and leaves the others to the client", () => {
    const search = limited({ max_trials: 1 });
    post(search, proposal("a", { target: 5 }));
    expect(refusal(search, [proposal("b")])).toMatchObject({ rejected: "search_finished" });
    // The search accepts no more operations, so no client could resume the trial: it ends at its target.
    expect(search.validate(1, 5, 0.5).at(-1)?.type).toBe("TrialStopDecided");
  });

  it("ends a trial without a nearer target by max_time", () => {
    const search = limited({}, customOf({ max_time: 7 }));
    post(search, proposal("a"), proposal("b", { target: 9 }));
    expect(search.validate(1, 7, 0.5).at(-1)).toMatchObject({ data: { rule: "max_time" } });
    expect(search.validate(2, 8, 0.5).at(-1)).toMatchObject({ data: { rule: "max_time" } });
  });
});

describe("a whole batch is refused", () => {
  const searched = (): DrivenSearch => {
    const search = startedCustom({ max_trials: 3 });
    post(search, proposal("a"), proposal("b"));
    search.end(1, COMPLETED);
    return search;
  };
  const lr = (value: number) => proposal("x", { hyperparameters: { lr: value, units: 16 } });
  const cases: readonly (readonly [string, SearchOperation, string, RegExp])[] = [
    ["an unknown trial", stopOf("x", 9), "trial_unknown", /"x": the search has no trial 9/],
    ["trial 0", suspensionOf("x", 0), "trial_unknown", /has no trial 0/],
    [
      "an unknown source",
      proposal("x", { startFromTrial: 8 }),
      "trial_unknown",
      /has no trial 8, only 3/,
    ],
    ["a trial that has ended", stopOf("x", 1), "trial_ended", /"x": trial 1 has ended/],
    [
      "a value out of its range",
      lr(1),
      "invalid_hyperparameters",
      /hyperparameters\.lr must be between/,
    ],
    ["no id", proposal(""), "invalid_request", /its id must be/],
    ["an id twice", proposal("good"), "invalid_request", /same id/],
    [
      "nothing wanted",
      { id: "x", operation: { case: undefined } },
      "invalid_request",
      /has no action/,
    ],
    ["a target of 0", proposal("x", { target: 0 }), "invalid_request", /target must be/],
    ["no number", proposal("x", { target: Number.NaN }), "invalid_request", /NaN/],
    [
      "a stop at no target",
      resumptionOf("x", 2, { stopAtTarget: true }),
      "invalid_request",
      /needs/,
    ],
    ["progress of 2", progressOf("x", 2), "invalid_request", /progress must be from 0 to 1/],
    ["a long reason", stopOf("x", 2, "x".repeat(1_001)), "invalid_request", /1001 .* most 1000/],
    ["more trials than it may have", proposal("x"), "too_many_trials", /already has 3 trials/],
  ];
  it.each(cases)("because of %s", (_what, operation, code, said) => {
    const search = searched();
    const good = proposal("good");
    expect(refusal(search, [good, operation])).toMatchObject({
      rejected: code,
      detail: expect.stringMatching(said),
      problems: [{ path: expect.stringMatching(/^operations\[1\]/) }],
    });
    // No operation of the batch was recorded: the valid one succeeds alone.
    expect(post(search, good)).toEqual(["OperationsPosted", "TrialProposed"]);
  });

  it("because it exceeds the bytes of an event, though its characters do not", () => {
    const search = searched();
    const of = (characters: number) =>
      proposal("x", { hyperparameters: { lr: 0.01, units: 16, text: "界".repeat(characters) } });
    // The text has 70,000 characters, which take 210,000 bytes in UTF-8.
    expect(refusal(search, [of(70_000)])).toMatchObject({
      rejected: "invalid_request",
      detail: expect.stringMatching(/take 210\d\d\d bytes in an event; at most 192 KiB/),
    });
  });

  it("because the search is finished, complete, not custom, or has another version", () => {
    const search = searched();
    const code = (operations: readonly SearchOperation[], restsOn?: number) =>
      refusal(search, operations, restsOn);
    expect(code([proposal("x")], 1)).toMatchObject({
      rejected: "search_moved_on",
      detail: expect.stringContaining("depend on version 1"),
    });
    post(search, finishOf("f"));
    expect(code([proposal("x")])).toMatchObject({ rejected: "search_finished" });
    expect(code([finishOf("x")])).toMatchObject({ rejected: "search_finished" });
    expect(code([resumptionOf("x", 2)])).toMatchObject({ rejected: "trial_ended" });
    search.end(2, STOPPED_EARLY);
    expect(code([proposal("x")])).toMatchObject({ rejected: "search_completed" });
    const random = new DrivenSearch();
    random.start(configOf(randomOf(2, 0)));
    expect(refusal(random, [stopOf("x", 1)])).toMatchObject({ rejected: "search_not_custom" });
  });

  it("because it has too many or too large operations", () => {
    const many = Array.from({ length: 101 }, (_, n) => proposal(`${n}`));
    expect(refusal(startedCustom(), many)).toMatchObject({ rejected: "invalid_request" });
    expect(refusal(startedCustom(), [])).toMatchObject({ rejected: "invalid_request" });
    const large = stopOf("x", 1, "y".repeat(200 * 1024));
    expect(refusal(startedCustom(), [large])).toMatchObject({
      detail: expect.stringContaining("192 KiB"),
    });
  });
});

it("deciding on a full batch leaves the search unchanged, whatever its number of trials", () => {
  const search = startedCustom({ max_concurrent_trials: 1 });
  post(search, proposal("a"), proposal("b"));
  const text = encodeSearch(search.state);
  const full = Array.from({ length: 49 }, (_, n) => [
    proposal(`p${n}`),
    suspensionOf(`s${n}`, n + 3),
  ]);
  search.machine.decide(posting([...full.flat(), finishOf("f")]));
  expect(encodeSearch(search.state)).toBe(text);
  post(search, ...full.flat(), finishOf("f"));
  expect(search.state.trials.length).toBe(51);
});

it("a custom search decides the same again from its recorded events", () => {
  const search = startedCustom({ max_concurrent_trials: 1 });
  search.send(posting([proposal("a", { target: 3 }), proposal("b")], 1));
  search.validate(1, 3, 0.5);
  post(search, resumptionOf("c", 1, { target: 6 }));
  search.end(2, COMPLETED);
  post(search, finishOf("d"));
  search.end(1, STOPPED_EARLY);
  const { differences, inputs } = replaySearch(search.events);
  expect(differences).toEqual([]);
  expect(inputs).toBe(7);
});
