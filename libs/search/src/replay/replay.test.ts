import { TrialOutcome } from "@trainyard/contracts/events";
import { describe, expect, it } from "vitest";
import type { SearchEvent } from "../events.ts";
import { adaptiveOf, ashaOf, hyperbandOf } from "../testing/halving.ts";
import { configOf, DrivenSearch, gpOf, randomOf, sobolOf, tpeOf } from "../testing/searches.ts";
import { replaySearch } from "./replay.ts";
import { recordedSearch, stored } from "../testing/recorded-search.ts";

const searchers = [
  randomOf(6, 2),
  sobolOf(6, 2),
  tpeOf(20, 4),
  tpeOf(20, 4, false),
  ashaOf(),
  ashaOf({ resume: false }),
  adaptiveOf(),
  hyperbandOf(),
];

describe("a replay of a recorded search", () => {
  it.each(searchers.map((searcher) => [searcher.name, searcher] as const))(
    "decides the same as recorded for %s",
    (_name, searcher) => {
      const { events } = recordedSearch(searcher, 7);
      const replay = replaySearch(stored(events));
      expect(replay.differences).toEqual([]);
      expect(replay.events).toBe(events.length);
      expect(replay.inputs).toBeGreaterThan(1);
      expect(replay.decisions).toBeGreaterThan(1);
    },
  );

  it("replays a cancellation at any point", () => {
    for (const reports of [0, 3]) {
      const search = new DrivenSearch();
      search.start(configOf(randomOf(6, 2)));
      for (let step = 1; step <= reports; step += 1) search.validate(1, step, step);
      search.send({ type: "CancelSearch" });
      expect(search.events.at(-1)?.type).toBe("SearchCompleted");
      expect(replaySearch(stored(search.events)).differences).toEqual([]);
    }
  });

  it("reports a decision that differs, and continues with the recorded one", () => {
    const events = stored(recordedSearch(ashaOf(), 7).events);
    const at = events.findIndex(({ type }) => type === "TrialSuspended");
    const event = events[at];
    if (event?.type !== "TrialSuspended") throw new Error("a trial was suspended");
    events[at] = { ...event, data: { ...event.data, evidence: { rank: 99 } } };
    const { differences } = replaySearch(events);
    expect(differences).toHaveLength(1);
    expect(differences[0]?.version).toBe(at + 1);
    expect(differences[0]?.recorded).toEqual(events[at]);
    expect(differences[0]?.decided).toEqual(event);
  });

  it("recomputes each suggestion of a model", () => {
    const events = stored(recordedSearch(gpOf(12, 2), 7, 2).events);
    const at = events.findLastIndex(({ type }) => type === "SuggestionPrepared");
    expect(at).toBeGreaterThan(0);
    expect(replaySearch(events).differences).toEqual([]);
    const event = events[at];
    if (event?.type !== "SuggestionPrepared") throw new Error("something was suggested");
    const hyperparameters = { ...event.data.hyperparameters, units: 5 };
    events[at] = { ...event, data: { ...event.data, hyperparameters } };
    const { differences } = replaySearch(events);
    expect(differences[0]).toEqual({ version: at + 1, recorded: events[at], decided: event });
  });

  it("reports a decision that was not recorded, and a recorded one that is not decided", () => {
    const { events } = recordedSearch(randomOf(3, 1), 7, 2);
    const last = events.length - 1;
    expect(events[last]?.type).toBe("SearchCompleted");
    expect(replaySearch(events.slice(0, last)).differences).toEqual([
      { version: last + 1, recorded: null, decided: events[last] },
    ]);
    const extra: SearchEvent = {
      type: "TrialStopDecided",
      data: { trial: 1, rule: "nobody", evidence: {} },
    };
    const { differences } = replaySearch([...events.slice(0, 2), extra]);
    expect(differences).toEqual([{ version: 3, recorded: extra, decided: null }]);
  });

  it("reports why an input is rejected", () => {
    const { events } = recordedSearch(randomOf(1, 1), 7, 1);
    const unknown: SearchEvent = {
      type: "TrialOutcomeRecorded",
      data: { trial: 9, outcome: TrialOutcome.COMPLETED },
    };
    const { differences } = replaySearch([...events.slice(0, 2), unknown]);
    expect(differences).toEqual([
      { version: 3, recorded: unknown, decided: "the search has no trial 9" },
    ]);
  });
});
