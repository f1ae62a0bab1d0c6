import { TrialOutcome } from "@trainyard/contracts/events";
import { describe, expect, it } from "vitest";
import { evolve } from "./evolve.ts";
import { decodeSearch, encodeSearch } from "./snapshot.ts";
import { initialSearch, trialOf } from "./state.ts";
import { configOf, DrivenSearch, randomOf } from "./testing/test-searches.ts";

function started(): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(randomOf(3, 0)));
  return search;
}

describe("evolve", () => {
  it("counts events, so that it knows the version of the stream", () => {
    const search = started();
    expect(search.state.version).toBe(4);
    search.end(1, TrialOutcome.COMPLETED);
    expect(search.state.version).toBe(5);
  });

  it("keeps what the search wants of a trial", () => {
    const evidence = {};
    const suspended = evolve(started().state, {
      type: "TrialSuspended",
      data: { trial: 2, rung: 0, rule: "asha", evidence },
    });
    const resumed = evolve(suspended, {
      type: "TrialResumed",
      data: { trial: 2, target: 9, rung: 0, rule: "halving" },
    });
    const stopped = evolve(resumed, {
      type: "TrialStopDecided",
      data: { trial: 2, rule: "median", evidence },
    });
    const wanted = [suspended, resumed, stopped].map((state) => trialOf(state, 2)?.wanted);
    expect(wanted).toEqual(["suspended", "run", "stopped"]);
  });

  it("changes no state that it was given", () => {
    const search = started();
    const before = search.state;
    const text = JSON.stringify(before);
    search.validate(1, 1, 0.5);
    search.end(1, TrialOutcome.COMPLETED);
    expect(JSON.stringify(before)).toBe(text);
  });

  it("takes an event before the start, or of an unknown trial, for a bug", () => {
    const event = {
      type: "TrialOutcomeRecorded",
      data: { trial: 9, outcome: TrialOutcome.COMPLETED },
    } as const;
    expect(() => evolve(initialSearch, event)).toThrow(/a search starts before/);
    expect(() => evolve(started().state, event)).toThrow(/trial 9 was proposed/);
  });
});

describe("a snapshot", () => {
  it("is as good as the events", () => {
    const search = started();
    search.validate(1, 1, 0.5);
    search.end(1, TrialOutcome.COMPLETED);
    const text = encodeSearch(search.state);
    const decoded = decodeSearch(text);
    expect(decoded === null ? null : encodeSearch(decoded)).toBe(text);
  });

  it("of another format is none", () => {
    expect(decodeSearch(encodeSearch(initialSearch).replace(/"format":\d+/, '"format":0'))).toBe(
      null,
    );
  });
});
