import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  layoutOf,
  type Picture,
  type PictureTrial,
  type SearchLayout,
  stub,
  threadAt,
} from "./layout.ts";
import { legendOf } from "./marks.ts";

const moment = { version: 1, atMs: 0, units: 0 };

function trialOf(number: number, of: Partial<PictureTrial> = {}): PictureTrial {
  return {
    trial: `7.${number}`,
    proposed: moment,
    origin: "drawn",
    state: "running",
    time: 0,
    reports: [],
    decisions: [],
    decisionsLeftOut: 0,
    ...of,
  };
}

function pictureOf(of: Partial<Picture>): Picture {
  const about = { algorithm: "asha", metric: "loss", smallerIsBetter: true, timeMetric: "" };
  return {
    ...about,
    version: 9,
    atMs: 0,
    units: 100,
    phase: "running",
    form: "promote",
    brackets: [],
    trialsProposed: of.trials?.length ?? 0,
    trials: [],
    decisions: [],
    nextPageToken: "",
    ...of,
  };
}

const report = (rung: number, rank: number) => ({ rung, rank, at: moment, time: 1, value: rank });

/** A bracket whose rungs promote the given numbers of trials, each in another order. */
function halvingOf(orders: readonly (readonly number[])[]): Picture {
  const reached = (number: number) =>
    orders.flatMap((order, rung) =>
      order.includes(number) ? [report(rung, order.indexOf(number) + 1)] : [],
    );
  return pictureOf({
    brackets: [
      {
        rungs: orders.map((order, rung) => ({
          units: 3 ** rung,
          trials: order.length,
          kept: orders[rung + 1]?.length ?? 0,
        })),
      },
    ],
    trials: (orders[0] ?? [])
      .toSorted((a, b) => a - b)
      .map((number) =>
        trialOf(number, { bracket: 0, rung: reached(number).length - 1, reports: reached(number) }),
      ),
  });
}

/** Three rungs with trials in any order; the first third of each rung continues. */
const halving = fc.integer({ min: 1, max: 60 }).chain((size) => {
  const all = Array.from({ length: size }, (_, index) => index + 1);
  const shuffled = (of: readonly number[]) =>
    fc.shuffledSubarray([...of], { minLength: of.length, maxLength: of.length });
  const third = (of: readonly number[]) => of.slice(0, Math.floor(of.length / 3));
  return shuffled(all).chain((first) =>
    shuffled(third(first)).chain((second) =>
      shuffled(third(second)).map((last) => [first, second, last]),
    ),
  );
});

describe("the layout of any search with rungs", () => {
  it("has one position for each trial in a column, ordered by rank", () => {
    fc.assert(
      fc.property(halving, fc.integer({ min: 300, max: 3_000 }), (orders, width) => {
        const { threads, slot } = layoutOf(halvingOf(orders), width);
        for (const [rung, order] of orders.entries()) {
          const heights = order.map(
            (trial) =>
              threads
                .find((thread) => thread.trial === trial)
                ?.points.find((point) => point.rung === rung)?.y ?? Number.NaN,
          );
          for (const [index, y] of heights.entries()) {
            if (index > 0) expect(y - (heights[index - 1] ?? 0)).toBeCloseTo(slot, 9);
          }
        }
      }),
    );
  });

  it("has the cutoff between the last trial that continues and the first that does not", () => {
    fc.assert(
      fc.property(halving, (orders) => {
        const { columns, threads } = layoutOf(halvingOf(orders), 800);
        for (const { rung, kept, cutoffY } of columns) {
          if (kept === 0) expect(cutoffY).toBeNull();
          for (const { points } of threads) {
            const point = points.find((one) => one.rung === rung);
            if (point?.rank === undefined || cutoffY === null) continue;
            expect(point.y < cutoffY).toBe(point.rank <= kept);
          }
        }
      }),
    );
  });

  it("is the same for the same picture, and draws within its box", () => {
    fc.assert(
      fc.property(halving, (orders) => {
        const picture = halvingOf(orders);
        const layout = layoutOf(picture, 800);
        expect(layoutOf(structuredClone(picture), 800)).toEqual(layout);
        for (const { x, y } of layout.threads.flatMap(({ points }) => points)) {
          expect(x >= 0 && x <= 800 && y >= 0 && y <= layout.height).toBe(true);
        }
      }),
    );
  });

  it("finds a thread at each of its points", () => {
    fc.assert(
      fc.property(halving, (orders) => {
        const layout = layoutOf(halvingOf(orders), 800);
        for (const { trial, points } of layout.threads) {
          for (const { x, y } of points) expect(threadAt(layout, x, y)?.trial).toBe(trial);
        }
      }),
    );
  });
});

test("brackets are panels below each other, and rungs of equal units are in one column", () => {
  const rungs = (units: readonly number[]) => ({
    rungs: units.map((at) => ({ units: at, trials: 1, kept: 0 })),
  });
  const { columns } = layoutOf(
    pictureOf({
      brackets: [rungs([1, 4, 16]), rungs([4, 16])],
      trials: [
        trialOf(1, { bracket: 0, reports: [report(0, 1)] }),
        trialOf(2, { bracket: 1, reports: [report(0, 1)] }),
      ],
    }),
    600,
  );
  const at = (bracket: number, units: number) =>
    columns.find((column) => column.bracket === bracket && column.units === units);
  expect(at(0, 4)?.x).toBe(at(1, 4)?.x);
  expect(at(0, 16)?.x).toBe(at(1, 16)?.x);
  expect(at(1, 4)?.top).toBeGreaterThanOrEqual(at(0, 4)?.bottom ?? 0);
});

test("a trial before its first rung is below the trials that have reached the rung", () => {
  const picture = halvingOf([[2, 1]]);
  const coming = trialOf(3, { bracket: 0, rung: 0 });
  const { threads } = layoutOf({ ...picture, trials: [...picture.trials, coming] }, 600);
  const heights = threads.map(({ points }) => points[0]?.y ?? 0);
  expect(heights[2]).toBeGreaterThan(Math.max(heights[0] ?? 0, heights[1] ?? 0));
  expect(threads[2]?.points[0]).not.toHaveProperty("rank");
});

test("a trial that trains towards its next rung extends beyond its last rung", () => {
  const running = trialOf(1, { bracket: 0, rung: 1, reports: [report(0, 1)] });
  const layout = layoutOf({ ...halvingOf([[1]]), trials: [running] }, 600);
  const [point] = layout.threads[0]?.points ?? [];
  expect(layout.threads[0]?.ongoing).toBe(true);
  expect(threadAt(layout, (point?.x ?? 0) + stub - 1, point?.y ?? 0)?.trial).toBe(1);
});

const stopped = {
  at: { version: 5, atMs: 0, units: 50 },
  event: "TrialStopDecided",
  verb: "stopped",
  rule: "pbt_exploit",
  sentence: "",
  evidence: { time: 20 },
};
const full = { ...stopped, rule: "max_time", evidence: { units: 40 } };
const xOf = ({ threads }: SearchLayout) => threads.map(({ points }) => points.map(({ x }) => x));

test("without rungs x is the search's time, and stops are marks", () => {
  const layout = layoutOf(
    pictureOf({
      form: "",
      trials: [
        trialOf(1),
        trialOf(2, { state: "stopped_early", time: 20, decisions: [stopped] }),
        trialOf(3, { proposed: { version: 6, atMs: 0, units: 50 } }),
      ],
    }),
    1_128,
  );
  expect(layout.timeOf).toBe("search");
  expect(xOf(layout)).toEqual([
    [56, 1_056],
    [56, 556],
    [556, 1_056],
  ]);
  expect(layout.marks).toMatchObject([{ trial: 2, x: 556, verb: "stopped" }]);
  expect(layout.lineage).toEqual([]);
});

test("in a population x is the member's own time, and copies are connected to their origin", () => {
  const layout = layoutOf(
    pictureOf({
      algorithm: "pbt",
      form: "",
      units: 900,
      trials: [
        trialOf(1, { time: 40, state: "stopped_early", decisions: [full] }),
        trialOf(2, { state: "stopped_early", time: 20, decisions: [stopped] }),
        trialOf(3, {
          proposed: { version: 6, atMs: 0, units: 50 },
          startFromTrial: "7.1",
          startFromTime: 10,
          time: 30,
        }),
        trialOf(4, { startFromTrial: "7.1", startFromTime: 10 }),
      ],
    }),
    1_128,
  );
  expect(layout.timeOf).toBe("trial");
  expect(layout.axis.map(({ units }) => units)).toEqual([0, 10, 20, 30, 40]);
  expect(xOf(layout)).toEqual([
    [56, 1_056],
    [56, 556],
    [306, 806],
    [306, 306],
  ]);
  expect(layout.marks).toMatchObject([{ trial: 2, x: 556, verb: "stopped" }]);
  const [one, , three] = layout.threads.map(({ points }) => points[0]?.y);
  expect(layout.lineage[0]).toEqual({ from: 1, to: 3, x: 306, fromY: one, toY: three });
  const texts = legendOf(layout).map(({ glyph, colour, text }) => `${colour} ${glyph}: ${text}`);
  expect(texts).toEqual([
    "muted line: training of a trial",
    "violet dashes: starts from a checkpoint of another trial",
    "teal bar: stopped by the search",
    "green dot: trained to the full length",
    "accent ring: running",
  ]);
});

test("the legend names the cutoff and the states of a search with rungs", () => {
  const { trials, ...halved } = halvingOf([[2, 1], [2]]);
  const states = ["stopped_early", "completed"];
  const ended = trials.map((trial, index) => ({ ...trial, state: states[index] ?? "" }));
  expect(legendOf(layoutOf({ ...halved, trials: ended }, 600)).map(({ text }) => text)).toEqual([
    "training of a trial",
    "cutoff: trials above it continue",
    "stopped by the search",
    "completed",
  ]);
});

test("a search without trials has an empty layout", () => {
  expect(layoutOf(pictureOf({ units: 0 }), 500)).toMatchObject({ threads: [], columns: [] });
});
