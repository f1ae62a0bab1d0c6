import type { Plain } from "@trainyard/contracts";
import type { QuerySeries } from "@trainyard/contracts/commands";
import { Fault } from "@trainyard/kernel";
import type { CommandContext } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { noRuns } from "../core/run-history.ts";
import { metricsLimits } from "../limits.ts";
import { type SeriesDeps, seriesQueryCommands } from "./series-queries.ts";

/** Returns the command over a table in which each trial has one block with so many reports and without columns. */
function stage({ reports, readMs = 0 }: { readonly reports: number; readonly readMs?: number }) {
  const clock = new ManualClock();
  const read: string[] = [];
  const query = async (asked: string | { readonly name: string; readonly values: unknown[] }) => {
    if (typeof asked === "string") return { rows: [] };
    read.push(asked.name);
    clock.skip(readMs);
    if (asked.name !== "list-parts") return { rows: [] };
    const times = { firstAtMs: 0, lastAtMs: 1 };
    const part = { kind: "block", id: "1", run: 1, group: "training", firstStep: 1, lastStep: 9 };
    return { rows: [{ ...part, reports, ...times }] };
  };
  const client = { query, release: () => {} };
  const commands = seriesQueryCommands({
    pool: { connect: async () => client },
    cache: { load: async () => ({ state: noRuns, version: 0 }) },
    follower: { position: 7 },
  } as unknown as SeriesDeps);
  const ask = (trials: readonly string[], others: Partial<Plain<QuerySeries>> = {}) => {
    const whole = { group: "", names: ["loss"], x: "", buckets: 10, superseded: false };
    const request = { ...whole, combined: true, trials: [...trials], ...others };
    // The caller waits for as long as the gateway does.
    const throwIfLate = (): void => {
      if (clock.monotonicMs() >= 5_000) throw new Fault("too_late", "late", { retry: "later" });
    };
    return commands.QuerySeries(request, { throwIfLate } as CommandContext);
  };
  return { ask, read };
}

const trialsOf = (count: number) => Array.from({ length: count }, (_, n) => `1.${n + 1}`);

test.each([
  ["at all x", {}],
  ["in a range of x", { from: 0, to: 10 }],
])(
  "a group %s with more points than are read in time is refused before they are read",
  async (_, zoom) => {
    const { seriesPointsMax, groupPointsMax } = metricsLimits;
    const { ask, read } = stage({ reports: seriesPointsMax });
    expect(await ask(trialsOf(groupPointsMax / seriesPointsMax + 1), zoom)).toEqual({
      rejected: "too_many_points",
      detail:
        "5 trials have more than 20,000,000 points in all: ask for a range of x, for fewer trials, or for fewer metrics",
    });
    expect(read).not.toContain("series-columns");
  },
);

test.each([true, false])(
  "series whose caller has given up are not read on (combined: %s)",
  async (combined) => {
    const { ask, read } = stage({ reports: 1, readMs: 500 });
    await expect(ask(trialsOf(100), { combined })).rejects.toMatchObject({ retry: "later" });
    expect(read.length).toBeLessThan(20);
  },
);

test("a series of a trial that is named twice is refused", async () => {
  const { ask } = stage({ reports: 1 });
  const refused = { rejected: "invalid_request", detail: "name a trial once" };
  expect(await ask(["1.1", "1.2", "1.1"])).toEqual(refused);
});
