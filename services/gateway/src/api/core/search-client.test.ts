import type { EventOf } from "@trainyard/contracts";
import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import { fold } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import { searchStarted } from "../../testing/example-events.ts";
import { evolveSearchClient, initialSearchClient, searchWaitsFor } from "./search-client.ts";

type Event = Parameters<typeof evolveSearchClient>[1];

const { data } = searchStarted();
const started: Event = { type: "SearchStarted", data: { ...data, algorithm: "custom" } };
const proposed = (number: number): Event => ({
  type: "TrialProposed",
  data: { number, seed: 1, searchVersion: 1, origin: "client" },
});
const suspended = (trial: number, rule: string): Event => ({
  type: "TrialSuspended",
  data: { trial, rung: 0, rule },
});
const resumed: EventOf<"TrialResumed"> = {
  type: "TrialResumed",
  data: { trial: 1, target: 9, rung: 0, rule: "client" },
};
const ended = (trial: number): Event => ({
  type: "TrialOutcomeRecorded",
  data: { trial, outcome: TrialOutcome.COMPLETED },
});

const waits = (...events: readonly Event[]): string =>
  searchWaitsFor(fold(evolveSearchClient, initialSearchClient, events));

describe("a custom search waits for its client", () => {
  test("when it has no unended trial", () => {
    expect(waits(started)).toContain("no trial runs)");
    expect(waits(started, proposed(1))).toBe("");
    expect(waits(started, proposed(1), ended(1))).not.toBe("");
  });

  test("when all unended trials are suspended, unless one waits for a place", () => {
    const one = [started, proposed(1), suspended(1, "target_reached")];
    expect(waits(...one)).toContain("1 suspended");
    expect(waits(...one, resumed)).toBe("");
    expect(waits(...one, proposed(2))).toBe("");
    expect(waits(...one, proposed(2), suspended(2, "no_place"))).toBe("");
    expect(waits(...one, suspended(1, "no_place"))).toBe("");
  });

  test("only until it is finished or over, and other searches never wait", () => {
    const finished: Event = { type: "SearchStopDecided", data: { rule: "budget" } };
    expect(waits(started, finished)).toBe("");
    expect(waits(started, proposed(1), suspended(1, "target_reached"), finished)).not.toBe("");
    const over: Event = {
      type: "SearchCompleted",
      data: { reason: SearchCompletion.CANCELED },
    };
    expect(waits(started, over)).toBe("");
    expect(waits(searchStarted(), proposed(1), ended(1))).toBe("");
  });
});
