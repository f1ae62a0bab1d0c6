import { describe, expect, test } from "vitest";
import { explainOne } from "../explain.ts";
import { ToyCluster } from "../testing/toy-cluster.ts";

function heldByJob(toy: ToyCluster, ...jobs: readonly string[]): readonly number[] {
  return jobs.map((job) => toy.pool.placed.slotsOf(job));
}

function queueMany(toy: ToyCluster, job: string, runs: number, rest = {}): void {
  for (let n = 0; n < runs; n += 1) toy.queue(`${job}-${n}`, 1, { job, ...rest });
}

describe("fair share", () => {
  test("divides slots by weight, whatever the order of arrival", () => {
    const toy = new ToyCluster({ policy: "fair_share" }, { a: 8 });
    queueMany(toy, "first", 20);
    queueMany(toy, "second", 20, { weight: 3 });
    toy.pass();
    expect(heldByJob(toy, "first", "second")).toEqual([2, 6]);
    expect(explainOne(toy.pool, "first-2", 0)).toMatchObject({
      reason: "fair_share",
      limit: "fair share: 2",
    });
  });

  test.each(["", "determined"] as const)(
    "terminates with extreme recorded weights, compat %j",
    (compat) => {
      const toy = new ToyCluster({ policy: "fair_share", compat }, { a: 4 });
      queueMany(toy, "light", 3, { weight: 1e-320 });
      queueMany(toy, "heavy", 3, { weight: 1e308 });
      queueMany(toy, "other", 3, { weight: 1e308 });
      toy.pass();
      expect(toy.running.size).toBe(4);
      toy.pool.updateJob("light", { weight: 1e-320 });
      toy.end(...[...toy.running.keys()].filter((id) => !id.startsWith("light")));
      toy.pass();
      expect(toy.running.size).toBe(4);
    },
  );

  test("gives the slots that a job does not need or may not hold to other jobs", () => {
    const toy = new ToyCluster({ policy: "fair_share" }, { a: 10 });
    queueMany(toy, "few", 1, { weight: 5 });
    queueMany(toy, "limited", 9, { maxSlots: 2 });
    queueMany(toy, "many", 20);
    toy.pass();
    expect(heldByJob(toy, "few", "limited", "many")).toEqual([1, 2, 7]);
  });

  test("preempts runs of a job above its share, as many as another job lacks", () => {
    const toy = new ToyCluster({ policy: "fair_share", preemption: true }, { a: 4, b: 4 });
    queueMany(toy, "early", 9);
    toy.pass();
    queueMany(toy, "late", 9);
    const { stops } = toy.pass();
    expect(stops).toHaveLength(1);
    for (let n = 0; n < 20; n += 1) {
      toy.end(...toy.stopping);
      toy.pass();
    }
    expect(heldByJob(toy, "early", "late")).toEqual([4, 4]);
    expect(toy.pass().stops).toEqual([]);
  });
});

test("jobs take turns under round robin", () => {
  const toy = new ToyCluster({ policy: "round_robin" }, { a: 5 });
  queueMany(toy, "x", 5);
  queueMany(toy, "y", 5);
  queueMany(toy, "z", 1);
  expect(toy.placed()).toEqual(["x-0", "y-0", "z-0", "x-1", "y-1"]);
});

test("a turn under round robin continues where the last one ended, so equal jobs get equally many places", () => {
  const toy = new ToyCluster({ policy: "round_robin" }, { a: 8 });
  const waiting = { oldest: 8, second: 12, third: 12 };
  for (const [job, runs] of Object.entries(waiting)) {
    for (let n = 0; n < runs; n += 1) toy.queue(`${job}-${n}`, 2, { job });
  }
  const waves = Array.from({ length: 6 }, () => {
    const placed = toy.placed().map((id) => id.split("-")[0] ?? "");
    toy.end(...toy.running.keys());
    return placed;
  });
  expect(waves.slice(0, 3)).toEqual([
    ["oldest", "second", "third", "oldest"],
    ["second", "third", "oldest", "second"],
    ["third", "oldest", "second", "third"],
  ]);
  const counts = Map.groupBy(waves.flat(), (job) => job);
  expect([...counts.values()].map((runs) => runs.length)).toEqual([8, 8, 8]);
});

describe("the order of the queue", () => {
  test("ageing puts a run before one of better priority, and the pass reports when that happens", () => {
    const toy = new ToyCluster({ ageingMs: 10 }, { a: 1 });
    toy.queue("busy", 1);
    toy.pass();
    toy.queue("old", 1, { priority: 52 });
    toy.nowMs = 95;
    toy.queue("young", 1, { priority: 44 });
    expect(toy.pass().againAtMs).toBe(100);
    toy.end("busy");
    expect(toy.placed()).toEqual(["old"]);
  });

  test("jobs can be moved before each other and can change their priority", () => {
    const toy = new ToyCluster({}, { a: 1 });
    for (const job of ["x", "y", "z"]) queueMany(toy, job, 2);
    toy.pool.updateJob("z", { place: 0.5 });
    toy.pool.updateJob("y", { priority: 1 });
    const order: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      order.push(...toy.placed());
      toy.end(...toy.running.keys());
    }
    expect(order).toEqual(["y-0", "y-1", "z-0", "z-1", "x-0", "x-1"]);
    toy.pool.forgetJob("y");
    toy.queue("y-3", 1, { job: "y" });
    expect(toy.pool.queue.find("y-3")?.demand.priority).toBe(42);
  });
});
