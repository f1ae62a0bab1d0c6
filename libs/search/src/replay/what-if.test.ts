import { describe, expect, it } from "vitest";
import { ashaOf } from "../testing/halving.ts";
import { configOf, DrivenSearch, randomOf } from "../testing/searches.ts";
import { recordedSearch, stored } from "../testing/recorded-search.ts";
import { unrecordedBy } from "./unrecorded.ts";
import { replayWith } from "./what-if.ts";

const trained = recordedSearch(randomOf(9, 3), 7);

describe("a replay of a recorded search with another searcher", () => {
  it("is the same search with the same searcher", () => {
    for (const searcher of [randomOf(9, 3), ashaOf()]) {
      const { events, state } = recordedSearch(searcher, 7);
      const { trials, units, best, beyond, completion } = replayWith(
        stored(events),
        configOf(searcher),
        7,
      );
      for (const { recorded, other } of trials) expect(other).toEqual(recorded);
      expect(units.other).toBe(units.recorded);
      expect(best).toEqual({ recorded: state.best, other: state.best });
      expect(beyond).toBe(0);
      expect(completion).toBe("exhausted");
    }
  });

  it("stops trials that were trained to the end, and compares training and best values", () => {
    const { trials, units, best } = replayWith(trained.events, configOf(ashaOf()), 7);
    expect(units.recorded).toBe(81);
    expect(units.other).toBeLessThan(60);
    const stopped = trials.filter(({ other }) => other.end === "stopped");
    expect(stopped.length).toBeGreaterThan(3);
    for (const { recorded, other } of stopped) {
      expect(recorded.end).toBe("completed");
      expect(["max_time", "rung_closed"]).toContain(other.rule);
    }
    expect(best.other?.value).toBeGreaterThanOrEqual(best.recorded?.value ?? 0);
  });

  it("has no reports of a trial beyond the recorded ones", () => {
    const asha = recordedSearch(ashaOf(), 7);
    const { trials, units } = replayWith(asha.events, configOf(randomOf(9, 3)), 7);
    expect(units.other).toBe(units.recorded);
    const stopped = trials.filter(({ recorded }) => recorded.end === "stopped");
    expect(stopped.length).toBeGreaterThan(3);
    for (const { other } of stopped) expect(other.end).toBe("unknown");
  });

  it("counts the proposed trials that were never recorded", () => {
    const more = replayWith(trained.events, configOf(randomOf(5_000, 3)), 7);
    expect(more.beyond).toBe(4_991);
    const fewer = replayWith(trained.events, configOf(randomOf(2, 1)), 7);
    expect(fewer.trials.map(({ other }) => other.end)).toEqual([
      "completed",
      "completed",
      ...Array.from({ length: 7 }, () => "not proposed"),
    ]);
  });

  it("is refused if the other searcher needs a metric that was not recorded", () => {
    const { events } = trained;
    const metric = configOf({ ...randomOf(9, 3), metric: "accuracy" });
    expect(unrecordedBy(events, metric)).toEqual({
      key: "metric",
      name: "accuracy",
      recorded: ["loss"],
    });
    const timed = configOf({ ...ashaOf(), time_metric: "epochs" });
    expect(unrecordedBy(events, timed)).toMatchObject({ key: "time_metric", name: "epochs" });
    expect(unrecordedBy(events, configOf({ ...ashaOf(), time_metric: "batches" }))).toBeNull();
    expect(unrecordedBy(events, configOf(ashaOf()))).toBeNull();
    const [started] = events;
    expect(unrecordedBy(started === undefined ? [] : [started], metric)).toBeNull();
  });

  it("has no completion if the search has not ended", () => {
    const search = new DrivenSearch();
    search.start(configOf(randomOf(2, 2)));
    search.validate(1, 1, 0.5);
    const { completion, trials } = replayWith(search.events, configOf(randomOf(2, 2)), 1);
    expect(completion).toBeNull();
    expect(trials[0]?.other).toEqual({ units: 1, end: "running", rule: "" });
  });
});
