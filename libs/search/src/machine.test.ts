import { TrialOutcome } from "@trainyard/contracts/events";
import { isRejection } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import type { SearchCommand } from "./commands.ts";
import { SearchMachine } from "./machine.ts";
import { exampleOf, methods } from "./testing/examples.ts";
import { validation } from "./testing/searches.ts";

const commands: readonly SearchCommand[] = [
  validation(1, 1, { loss: 0.4 }, { atMs: 1 }),
  validation(2, 3, { loss: 0.2 }, { atMs: 2 }),
  validation(2, 2, { loss: 0.9 }, { atMs: 3 }),
  { type: "RecordUsage", trial: 1, run: 1, started: true, atMs: 4 },
  { type: "RecordCheckpoint", trial: 2, checkpoint: "c", run: 1, step: 3 },
  validation(1, 9, { loss: Number.NaN }, { atMs: 5 }),
  { type: "RecordOutcome", trial: 2, outcome: TrialOutcome.INVALID_HYPERPARAMETERS, atMs: 6 },
  { type: "RecordOutcome", trial: 1, outcome: TrialOutcome.COMPLETED, atMs: 7 },
  { type: "CancelSearch" },
];

function started(method: string): SearchMachine {
  const search = new SearchMachine();
  search.take({ type: "StartSearch", config: exampleOf(method), seed: 3 });
  if (method === "custom") {
    const value = { hyperparameters: { lr: 0.01, units: 8 }, target: 3, stopAtTarget: false };
    const operations = ["a", "constructor", "1"].map((id) => ({
      id,
      operation: { case: "propose" as const, value },
    }));
    search.take({ type: "PostOperations", operations, restsOn: null });
  }
  search.keep();
  return search;
}

describe.each(methods)("a search by %s", (method) => {
  it("is unchanged by a decision", () => {
    const search = started(method);
    for (const command of commands) {
      const before = search.snapshot();
      const decided = search.decide(command);
      expect(search.snapshot()).toBe(before);
      expect(search.decide(command)).toEqual(decided);
      if (isRejection(decided)) continue;
      for (const event of decided) search.apply(event);
    }
  });

  it("returns to its earlier state when an event is undone", () => {
    const search = started(method);
    for (const command of commands) {
      const decided = search.decide(command);
      for (const event of isRejection(decided) ? [] : decided) {
        const before = search.snapshot();
        search.apply(event);
        search.undo();
        expect(search.snapshot()).toBe(before);
        search.apply(event);
        search.keep();
      }
    }
  });
});

describe("a machine", () => {
  it("undoes everything since the last keep, whatever was applied", () => {
    const search = started("asha");
    const before = search.digest();
    for (const command of commands) search.take(command);
    expect(search.digest()).not.toBe(before);
    search.undo();
    expect(search.digest()).toBe(before);
  });

  it.each(methods)("of %s is unchanged when it refuses an event that cannot follow", (method) => {
    const search = started(method);
    const before = search.digest();
    const ended = { trial: 99, outcome: TrialOutcome.COMPLETED };
    expect(() => search.apply({ type: "TrialOutcomeRecorded", data: ended })).toThrow(
      /does not hold/,
    );
    const data = {
      trial: 99,
      run: 1,
      time: 1,
      values: { loss: 1 },
      measurement: "m",
      repeat: false,
    };
    expect(() => search.apply({ type: "ObservationRecorded", data })).toThrow(/does not hold/);
    expect(search.digest()).toBe(before);
  });

  it("has another digest for any difference in its state", () => {
    const [one, other] = [started("asha"), started("asha")];
    expect(other.digest()).toBe(one.digest());
    other.take(validation(1, 1, { loss: 0.4 }));
    one.take(validation(1, 1, { loss: 0.41 }));
    expect(other.digest()).not.toBe(one.digest());
  });
});
