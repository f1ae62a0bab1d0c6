import { expect, test } from "vitest";
import { PlacedRuns } from "./placed.ts";
import { exampleDemand } from "./testing/example-demand.ts";

const idsOf = (runs: Iterable<{ readonly demand: { readonly id: string } }>) =>
  [...runs].map(({ demand }) => demand.id);

function placed(
  ...runs: readonly (readonly [id: string, limitMs: number, startedAtMs: number | null])[]
) {
  const all = new PlacedRuns();
  for (const [index, [id, timeLimitMs, startedAtMs]] of runs.entries()) {
    const demand = { ...exampleDemand, id, timeLimitMs, arrival: index };
    all.start(demand, { atMs: 0, startedAtMs });
  }
  return all;
}

test("runs with a time limit are listed in the order of their ends, whether they have started or not", () => {
  const all = placed(
    ["late", 500, 100],
    ["waits", 300, null],
    ["soon", 200, 50],
    ["short", 10, null],
  );
  expect(idsOf(all.soonestToEnd(100))).toEqual(["short", "soon", "waits", "late"]);
  all.started("short", 400);
  expect(idsOf(all.soonestToEnd(100))).toEqual(["soon", "waits", "short", "late"]);
  all.end("soon");
  expect(idsOf(all.soonestToEnd(500))).toEqual(["short", "late", "waits"]);
});

test("runs that were asked to stop hold slots that do not count as staying", () => {
  const all = placed(["a", 1, 0], ["b", 1, 0]);
  all.stopping("a");
  expect([all.slotsOf("1"), all.stayingSlotsOf("1")]).toEqual([2, 1]);
  expect(idsOf(all.stoppingRuns)).toEqual(["a"]);
  expect([all.evictableSlots(0), idsOf(all.evictable(0))]).toEqual([1, ["b"]]);
  all.end("a");
  expect([all.slotsOf("1"), all.stayingSlotsOfWorkspace("")]).toEqual([1, 1]);
});

test("changing a run keeps the order of the others and leaves the run in one group of each kind", () => {
  const all = placed(["a", 1, 0], ["b", 1, 0], ["c", 1, 0]);
  all.change("b", ({ demand }) => ({ demand: { ...demand, priority: 7 } }));
  expect(idsOf(all.all())).toEqual(["a", "b", "c"]);
  expect(idsOf(all.runsOf("1"))).toEqual(["c", "b", "a"]);
  expect(idsOf(all.evictable(0))).toEqual(["c", "a", "b"]);
  for (const id of ["a", "b", "c"]) all.end(id);
  expect([[...all.jobs], all.size, all.slots, all.evictableSlots(0)]).toEqual([[], 0, 0, 0]);
});
