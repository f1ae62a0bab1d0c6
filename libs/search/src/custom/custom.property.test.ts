/** Properties of a custom search for any operations of its client, repeated and batched in any way. */
import { decodeEvent, encodeEvent } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import type { CustomSearcher } from "@trainyard/experiment-config";
import { isRejection } from "@trainyard/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SearchMachine } from "../machine.ts";
import type { SearchEvent } from "../events.ts";
import { replaySearch } from "../replay/replay.ts";
import { encodeSearch } from "../snapshot.ts";
import { proposedTrials } from "../state.ts";
import type { DrivenSearch } from "../testing/searches.ts";
import { operationResults } from "./decide.ts";
import type { SearchOperation } from "./operations.ts";
import {
  customOf,
  finishOf,
  posting,
  progressOf,
  proposal,
  resumptionOf,
  startedCustom,
  stopOf,
  suspensionOf,
} from "../testing/custom.ts";

type Step =
  | { readonly kind: "post"; readonly operations: readonly SearchOperation[] }
  | { readonly kind: "validate"; readonly trial: number; readonly time: number }
  | { readonly kind: "end"; readonly trial: number; readonly outcome: TrialOutcome };

const trial = fc.integer({ min: 1, max: 7 });
const target = fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined });

/** Random contents of an operation; the operation's index determines its id. */
const wish: fc.Arbitrary<(id: string) => SearchOperation> = fc.oneof(
  { weight: 4, arbitrary: target.map((at) => (id: string) => proposal(id, goal(at, false))) },
  { weight: 2, arbitrary: trial.map((of) => (id: string) => stopOf(id, of)) },
  { weight: 2, arbitrary: trial.map((of) => (id: string) => suspensionOf(id, of)) },
  {
    weight: 4,
    arbitrary: fc.tuple(trial, target, fc.boolean()).map(
      ([of, at, stops]) =>
        (id: string) =>
          resumptionOf(id, of, goal(at, stops)),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map((lets) => (id: string) => finishOf(id, { letTrialsEnd: lets })),
  },
  { weight: 1, arbitrary: fc.constant((id: string) => progressOf(id, 0.5)) },
);

function goal(at: number | undefined, stops: boolean) {
  return at === undefined ? {} : { target: at, stopAtTarget: stops };
}

const outcome = fc.constantFrom(
  TrialOutcome.COMPLETED,
  TrialOutcome.FAILED,
  TrialOutcome.STOPPED_EARLY,
);
const steps: fc.Arbitrary<readonly Step[]> = fc
  .array(
    fc.oneof(
      fc.array(wish, { minLength: 1, maxLength: 4 }),
      fc.record({ kind: fc.constant("validate" as const), trial, time: fc.nat({ max: 12 }) }),
      fc.record({ kind: fc.constant("end" as const), trial, outcome }),
    ),
    { maxLength: 40 },
  )
  .map((list) =>
    list.map((one, at) =>
      "kind" in one
        ? one
        : { kind: "post", operations: one.map((make, index) => make(`${at}-${index}`)) },
    ),
  );

const searcher: fc.Arbitrary<Partial<CustomSearcher>> = fc.record({
  max_trials: fc.constantFrom(0, 3, 6),
  max_concurrent_trials: fc.nat({ max: 3 }),
});

/** Runs the steps and skips refused ones; `again` selects the steps that are repeated. */
function driven(
  config: Partial<CustomSearcher>,
  happening: readonly Step[],
  { again = () => false, look = () => {} }: Driving = {},
): DrivenSearch {
  const search = startedCustom(config);
  look(search);
  for (const [at, step] of happening.entries()) {
    for (let times = again(at) ? 2 : 1; times > 0; times -= 1) {
      happen(search, step);
      look(search);
    }
  }
  return search;
}

type Driving = {
  readonly again?: (at: number) => boolean;
  readonly look?: (search: DrivenSearch) => void;
};

function happen(search: DrivenSearch, step: Step): void {
  if (step.kind === "post") {
    const decided = search.machine.decide(posting(step.operations));
    if (!isRejection(decided)) search.send(posting(step.operations));
  } else if (step.trial <= proposedTrials(search.state)) {
    if (step.kind === "validate") search.validate(step.trial, step.time, 1 / (step.time + 1));
    else search.end(step.trial, step.outcome);
  }
}

/** Counts open trials that hold a place; a suspended trial that was stopped holds none. */
function running(events: readonly SearchEvent[]): number {
  const on = new Map<number, boolean>();
  for (const event of events) {
    if (event.type === "TrialProposed") on.set(event.data.number, event.data.waits !== true);
    else if (event.type === "TrialSuspended") on.set(event.data.trial, false);
    else if (event.type === "TrialResumed") on.set(event.data.trial, true);
    else if (event.type === "TrialOutcomeRecorded") on.delete(event.data.trial);
  }
  return [...on.values()].filter(Boolean).length;
}

/** Removes the versions, which differ if an operation was recorded again. */
function withoutVersions(events: readonly SearchEvent[]): unknown {
  return events.map((event) =>
    event.type === "TrialProposed" ? { ...event.data, searchVersion: 0 } : event,
  );
}

describe("a custom search", () => {
  it("is not changed by batches that are posted twice, and answers the repeats the same", () => {
    fc.assert(
      fc.property(searcher, steps, fc.array(fc.boolean()), (config, happening, twice) => {
        const once = driven(config, happening);
        const often = driven(config, happening, { again: (at) => twice[at] === true });
        expect(withoutVersions(often.events)).toEqual(withoutVersions(once.events));
        for (const step of happening) {
          if (step.kind !== "post") continue;
          const answer = operationResults(once.state, step.operations);
          expect(operationResults(often.state, step.operations)).toEqual(answer);
        }
      }),
    );
  });

  it("equals, at every point of its history, a replay from the start or from a snapshot", () => {
    fc.assert(
      fc.property(searcher, steps, fc.nat(), (config, happening, cut) => {
        const live: string[] = [];
        const { events } = driven(config, happening, {
          look: (search) => {
            live[search.events.length] = encodeSearch(search.state);
          },
        });
        const stored = events.map((event) => decodeEvent(encodeEvent(event)) as SearchEvent);
        const at = cut % (stored.length + 1);
        const whole = SearchMachine.restored(SearchMachine.of(stored.slice(0, at)).snapshot());
        for (const event of stored.slice(at)) whole?.apply(event);
        expect(whole?.snapshot()).toBe(live[events.length]);
        expect(replaySearch(stored).differences).toEqual([]);
      }),
    );
  });

  it("respects the limits of trials and of concurrency, and leaves no place free while a trial waits", () => {
    fc.assert(
      fc.property(searcher, steps, (config, happening) => {
        const { max_trials, max_concurrent_trials } = customOf(config);
        driven(config, happening, {
          look: ({ events, state }) => {
            if (max_trials > 0) expect(proposedTrials(state)).toBeLessThanOrEqual(max_trials);
            const runs = running(events);
            if (max_concurrent_trials > 0) {
              expect(runs).toBeLessThanOrEqual(max_concurrent_trials);
              if (runs < max_concurrent_trials) expect(waiting(events)).toEqual([]);
            }
          },
        });
      }),
    );
  });
});

/** Returns the trials that are suspended until a place is free. */
function waiting(events: readonly SearchEvent[]): number[] {
  const rules = new Map<number, string>();
  for (const event of events) {
    if (event.type === "TrialProposed" && event.data.waits === true) {
      rules.set(event.data.number, "no_place");
    } else if (event.type === "TrialSuspended") rules.set(event.data.trial, event.data.rule);
    else if (event.type === "TrialResumed" || event.type === "TrialStopDecided") {
      rules.delete(event.data.trial);
    } else if (event.type === "TrialOutcomeRecorded") rules.delete(event.data.trial);
  }
  return [...rules].flatMap(([of, rule]) => (rule === "no_place" ? [of] : []));
}
