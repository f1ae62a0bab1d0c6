/** Tests of searches that continue after their end. */
import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import { isRejection } from "@trainyard/kernel";
import type { SearcherConfig } from "@trainyard/experiment-config";
import { describe, expect, it } from "vitest";
import { searchLimits } from "./limits.ts";
import { replaySearch } from "./replay/replay.ts";
import { stored } from "./testing/recorded-search.ts";
import {
  configOf,
  DrivenSearch,
  gpOf,
  gridOf,
  randomOf,
  singleOf,
  sobolOf,
  tpeOf,
} from "./testing/searches.ts";

const { COMPLETED, FAILED, CANCELED, INVALID_HYPERPARAMETERS: INVALID } = TrialOutcome;
const space = { lr: { type: "double", minval: 0, maxval: 1, count: 4 } } as const;

function begun(searcher: SearcherConfig): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(searcher, space), 7);
  return search;
}

function names(events: readonly { readonly type: string }[]): string {
  return events.map(({ type }) => type).join(" ");
}

const again = (searcher: SearcherConfig, continuation = 1, only: number | null = null) =>
  ({ type: "ContinueSearch", continuation, searcher, only }) as const;

describe.each([randomOf(4, 2), sobolOf(4, 2), tpeOf(4, 2), gpOf(4, 2), gridOf(2)])(
  "a search by $name that has ended",
  (searcher) => {
    it("reopens failed and canceled trials, and completes again when they have ended", () => {
      const search = begun(searcher);
      search.end(1, FAILED);
      search.end(2, COMPLETED);
      search.end(3, CANCELED);
      search.end(4, COMPLETED);
      expect(search.completion()?.reason).toBe(SearchCompletion.EXHAUSTED);
      const [continued] = search.send(again(searcher));
      expect(continued).toMatchObject({ type: "SearchContinued", data: { trials: [1, 3] } });
      expect(search.state).toMatchObject({
        phase: "running",
        unended: 2,
        outcomes: { trained: 2, failed: 0, canceled: 0 },
      });
      search.restore();
      search.end(1, COMPLETED);
      expect(names(search.end(3, COMPLETED))).toBe("TrialOutcomeRecorded SearchCompleted");
      expect(search.state.outcomes).toMatchObject({ trained: 4 });
    });

    it("proposes its remaining trials after a cancellation, and reopens trials with unknown ends", () => {
      const search = begun(searcher);
      search.end(1, COMPLETED);
      search.send({ type: "CancelSearch" });
      const [continued] = search.send(again(searcher));
      expect(continued).toMatchObject({ data: { trials: [2, 3] } });
      expect(search.state.unended).toBe(2);
      const proposed = search.end(2, CANCELED);
      expect(names(proposed)).toContain("TrialProposed");
    });

    it("reopens a single trial if the continuation names one", () => {
      const search = begun(searcher);
      search.end(1, FAILED);
      search.send({ type: "CancelSearch" });
      const events = search.send(again(searcher, 1, 1));
      expect(names(events)).toBe("SearchContinued");
      expect(search.state).toMatchObject({ unended: 1, outcomes: { canceled: 2, failed: 0 } });
      expect(names(search.end(1, COMPLETED))).toBe("TrialOutcomeRecorded SearchCompleted");
    });

    it("answers each continuation once", () => {
      const search = begun(searcher);
      search.send({ type: "CancelSearch" });
      search.send(again(searcher));
      expect(search.send(again(searcher))).toEqual([]);
      expect(search.send(again(searcher, 2))).toHaveLength(1);
    });

    it("replays to the same events after a continuation", () => {
      const search = begun(searcher);
      search.end(1, FAILED);
      search.send({ type: "CancelSearch" });
      search.send(again(searcher));
      search.end(1, COMPLETED);
      expect(replaySearch(stored(search.events)).differences).toEqual([]);
    });
  },
);

it("a running search reopens one failed trial beside its running trials", () => {
  const search = begun(randomOf(4, 2));
  search.end(1, FAILED);
  search.send(again(randomOf(4, 2), 1, 1));
  expect(search.state).toMatchObject({ phase: "running", unended: 3, finishing: false });
  search.end(1, COMPLETED);
  search.end(2, COMPLETED);
  expect(search.proposals()).toHaveLength(4);
});

it.each([randomOf, sobolOf, tpeOf, gpOf])(
  "a continuation with a larger max_trials proposes more trials",
  (of) => {
    const search = begun(of(2, 0));
    search.end(1, COMPLETED);
    search.end(2, COMPLETED);
    const events = search.send(again(of(5, 0)));
    expect(names(events)).toBe("SearchContinued TrialProposed TrialProposed TrialProposed");
    const whole = begun(of(5, 0));
    // Points of random and quasi-random search depend only on the trial's number, so they equal those of a larger
    // search.
    if (of === randomOf || of === sobolOf) {
      expect(search.proposals().map(({ hyperparameters }) => hyperparameters)).toEqual(
        whole.proposals().map(({ hyperparameters }) => hyperparameters),
      );
    }
  },
);

it("a continuation without open or new trials completes the search again at once", () => {
  const search = begun(randomOf(1, 1));
  search.end(1, COMPLETED);
  expect(names(search.send(again(randomOf(1, 1))))).toBe("SearchContinued SearchCompleted");
});

it("a single search trains its last trial longer, not the invalid trial that it replaced", () => {
  const search = begun(singleOf);
  search.end(1, INVALID);
  search.end(2, COMPLETED);
  const [continued] = search.send(again({ ...singleOf, max_time: 20 } as SearcherConfig));
  expect(continued).toMatchObject({ data: { trials: [2], trialsMax: 1 } });
  expect(search.state.plan).toMatchObject({ maxTime: 20 });
  expect(search.state).toMatchObject({ unended: 1, outcomes: { trained: 0, invalid: 1 } });
});

it("a continuation reopens trials up to its limit, and the others keep their outcomes", () => {
  const most = searchLimits.continuedTrialsMax;
  const search = begun(randomOf(most + 5, 0));
  while (search.proposals().length < most + 5) search.end(search.proposals().length, FAILED);
  search.send({ type: "CancelSearch" });
  const [continued] = search.send(again(randomOf(most + 5, 0)));
  expect(continued).toMatchObject({ type: "SearchContinued" });
  expect(search.state.unended).toBe(most);
});

it("a search by asha cannot continue after its end", () => {
  const search = begun({
    ...randomOf(4, 2),
    name: "asha",
    max_time: 9,
    min_time: 1,
    divisor: 3,
    resume: false,
    time_metric: "",
  } as SearcherConfig);
  search.send({ type: "CancelSearch" });
  const decided = search.machine.decide(again(randomOf(4, 2)));
  expect(isRejection(decided) ? decided.rejected : "").toBe("continue_unsupported");
});
