import { TrialOutcome } from "@trainyard/contracts/events";
import { describe, expect, it } from "vitest";
import type { SearchEvent } from "../events.ts";
import { ashaOf, autoOf } from "../testing/halving.ts";
import { customOf, posting, proposal, resumptionOf, suspensionOf } from "../testing/custom.ts";
import { pbtOf, TestPopulation } from "../testing/population.ts";
import { recordedSearch, stored } from "../testing/recorded-search.ts";
import { configOf, DrivenSearch, randomOf } from "../testing/searches.ts";
import { PictureRecord, type SearchPicture } from "./picture.ts";

function pictureOf(events: readonly SearchEvent[], from = 1, to = 1_000): SearchPicture {
  const record = new PictureRecord(from, to);
  for (const [index, event] of events.entries()) record.add(event, 1_000 + index);
  return record.picture();
}

const searches = [
  ["asha", ashaOf({ max_trials: 27 })],
  ["asha that stops", ashaOf({ max_trials: 27, resume: false })],
  ["larger is better", ashaOf({ max_trials: 27, smaller_is_better: false })],
  ["auto", autoOf({ max_trials: 27 })],
] as const;

describe.each(searches)("the picture of %s", (_name, searcher) => {
  const events = stored(recordedSearch(searcher, 3).events);
  const picture = pictureOf(events);

  it("has each recorded decision, with its rule and evidence, in order", () => {
    const recorded = events.flatMap((event, index) =>
      event.type === "TrialStopDecided" ||
      event.type === "TrialSuspended" ||
      event.type === "TrialResumed"
        ? [[index + 1, event.data.trial, event.data.rule, event.data.evidence ?? {}]]
        : [],
    );
    const pictured = picture.trials.flatMap(({ trial, decisions }) =>
      decisions.map(({ version, rule, evidence }) => [version, trial, rule, evidence]),
    );
    const inOrder = pictured.sort(([a], [b]) => Number(a) - Number(b));
    expect(recorded.length).toBeGreaterThan(20);
    expect(inOrder).toEqual(recorded);
  });

  it("shows, at a decision's version, the rank, value and cutoff of its evidence", () => {
    let compared = 0;
    for (const { decisions, trial } of picture.trials) {
      for (const { version, evidence, rule } of decisions) {
        if (rule === "rung_not_trusted") continue;
        const { bracket, rung, rank, value, of } = evidence as Record<string, number>;
        const then = pictureOf(events.slice(0, version));
        const report = then.trials[trial - 1]?.reports.find((one) => one.rung === rung);
        expect(report).toMatchObject({ rank, value });
        expect(then.brackets[bracket ?? 0]?.rungs[rung ?? 0]?.trials).toBe(of);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(20);
  });

  it("dates each report by the version and the time at which the trial reached the rung", () => {
    const reports = picture.trials.flatMap(({ trial, reports }) =>
      reports.map((report) => ({ trial, ...report })),
    );
    expect(reports.length).toBeGreaterThan(27);
    for (const { trial, version, rung, time } of reports) {
      const before = pictureOf(events.slice(0, version - 1)).trials[trial - 1];
      expect(before?.reports.some((one) => one.rung === rung)).toBe(false);
      const units = picture.brackets[0]?.rungs[rung]?.units ?? 0;
      expect(time).toBeGreaterThanOrEqual(units);
    }
  });

  it("has the same trials for a range as for the whole search", () => {
    expect(pictureOf(events, 5, 9).trials).toEqual(picture.trials.slice(4, 9));
  });
});

describe("the picture of a search whose first rung rises", () => {
  it("lists every trial of a rung with its arrival, at every version", () => {
    // The trials with the best values at the first rung have the worst values later.
    const rank = (trial: number) => (trial * 7) % 27;
    const misleading = (trial: number, step: number) =>
      step < 3 ? rank(trial) : 100 - rank(trial);
    const searcher = autoOf({ max_trials: 27, max_concurrent_trials: 4 });
    const { events } = recordedSearch(searcher, 3, 9, misleading);
    const all = pictureOf(events).trials;
    const rules = all.flatMap(({ decisions }) => decisions.map(({ rule }) => rule));
    expect(rules).toContain("rung_not_trusted");
    for (let version = 1; version <= events.length; version += 1) {
      const { brackets, trials } = pictureOf(events.slice(0, version));
      const reports = trials.flatMap((trial) => trial.reports);
      const members = brackets.flatMap(({ rungs }) => rungs.map((rung) => rung.trials));
      expect(reports).toHaveLength(members.reduce((sum, count) => sum + count, 0));
    }
  });
});

describe("the picture of a search without rungs", () => {
  it("has proposals and stops over the trained time of the search", () => {
    const search = new DrivenSearch();
    search.start(configOf(randomOf(3, 2)));
    search.validate(1, 4, 0.5);
    search.validate(2, 3, 0.7);
    search.end(1, TrialOutcome.COMPLETED);
    search.end(2, TrialOutcome.FAILED);
    const picture = pictureOf(search.events);
    expect(picture).toMatchObject({ form: null, brackets: [], units: 7, phase: "running" });
    expect(picture.trials).toMatchObject([
      { trial: 1, state: "completed", time: 4, best: 0.5, place: null, proposed: { units: 0 } },
      { trial: 2, state: "failed", time: 3, best: 0.7, reports: [] },
      { trial: 3, state: "running", best: null, proposed: { units: 7 } },
    ]);
  });

  it("keeps only the latest decisions of a trial with very many", () => {
    const search = new DrivenSearch();
    search.start(configOf(customOf()));
    search.send(posting([proposal("p")]));
    for (let round = 0; round < 60; round += 1) {
      search.send(posting([suspensionOf(`s${round}`, 1)]));
      search.send(posting([resumptionOf(`r${round}`, 1)]));
    }
    const [trial] = pictureOf(search.events).trials;
    expect(trial).toMatchObject({ decisionsLeftOut: 20, state: "running" });
    expect(trial?.decisions).toHaveLength(100);
    expect(trial?.decisions.at(-1)?.verb).toBe("resumed");
  });
});

describe("the picture of a population", () => {
  it("has the lineage, and each copy as a decision with its evidence", () => {
    const population = new TestPopulation(
      {
        initial: 0,
        step: (state: number, { lr }) => state + Number(lr),
        valueOf: (state) => 0 - state,
      },
      4,
    );
    const space = { lr: { type: "double", minval: 0, maxval: 1, count: null } } as const;
    population.start(pbtOf({ population_size: 4, max_time: 40, interval: 4 }), space, 1);
    population.run();
    const { events } = population.search;
    const { trials } = pictureOf(events);
    const copies = trials.filter(({ from }) => from !== null);
    expect(copies.length).toBeGreaterThan(0);
    for (const { trial, from, decisions, proposed } of copies) {
      const event = events[proposed.version - 1];
      if (event?.type !== "TrialProposed") throw new Error("a proposal has its own version");
      const { startFromTrial, startFromTime, evidence } = event.data;
      expect([trial, from]).toEqual([
        event.data.number,
        { trial: startFromTrial, time: startFromTime },
      ]);
      expect(decisions[0]).toMatchObject({ event: "TrialProposed", rule: "", evidence });
    }
    const exploited = trials.flatMap(({ decisions }) => decisions);
    expect(exploited.some(({ rule }) => rule === "pbt_exploit")).toBe(true);
  });
});
