import { TrialOutcome } from "@trainyard/contracts/events";
import { describe, expect, it } from "vitest";
import type { SearchEvent } from "./events.ts";
import { SearchMachine } from "./machine.ts";
import { trialOf } from "./state.ts";
import { configOf, DrivenSearch, randomOf } from "./testing/searches.ts";

function started(): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(randomOf(3, 0)));
  return search;
}

describe("a machine that applies events", () => {
  it("counts the events, which is the version of the stream", () => {
    const search = started();
    expect(search.state.version).toBe(4);
    search.end(1, TrialOutcome.COMPLETED);
    expect(search.state.version).toBe(5);
  });

  it("keeps the state that the search wants for a trial", () => {
    const evidence = {};
    const { machine } = started();
    const events: SearchEvent[] = [
      { type: "TrialSuspended", data: { trial: 2, rung: 0, rule: "asha", evidence } },
      { type: "TrialResumed", data: { trial: 2, target: 9, rung: 0, rule: "halving" } },
      { type: "TrialStopDecided", data: { trial: 2, rule: "median", evidence } },
    ];
    const wanted = events.map((event) => {
      machine.apply(event);
      return trialOf(machine.state, 2)?.wanted;
    });
    expect(wanted).toEqual(["suspended", "run", "stopped"]);
  });

  it("throws for an event before the start or of an unknown trial", () => {
    const event = {
      type: "TrialOutcomeRecorded",
      data: { trial: 9, outcome: TrialOutcome.COMPLETED },
    } as const;
    expect(() => new SearchMachine().apply(event)).toThrow(/a search starts before/);
    expect(() => started().machine.apply(event)).toThrow(/trial 9 was proposed/);
  });
});

describe("a snapshot", () => {
  it("restores the same state as the events", () => {
    const search = started();
    search.validate(1, 1, 0.5);
    search.end(1, TrialOutcome.COMPLETED);
    const text = search.machine.snapshot();
    expect(SearchMachine.restored(text)?.snapshot()).toBe(text);
  });

  it("is ignored if it has another format", () => {
    const text = new SearchMachine().snapshot();
    expect(SearchMachine.restored(text.replace(/"format":\d+/, '"format":0'))).toBe(null);
  });
});
