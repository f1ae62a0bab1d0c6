import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Constraints } from "../constraints.ts";
import { place } from "../place.ts";
import { exampleOffer } from "../testing/example-offer.ts";
import { ToyCluster } from "../testing/toy-cluster.ts";
import { queueOf } from "./pass.ts";

const compat = { compat: "determined" } as const;
const anywhere: Constraints = {
  device: "",
  deviceMemoryBytes: 0,
  required: [],
  preferred: [],
  forbidden: [],
  excludedAgents: [],
  sameLabel: "",
};

describe("a pool with compat: determined", () => {
  test("starts no runs of worse priority behind a run that does not fit, unlike Trainyard's rules", () => {
    const outcome = (settings: object) => {
      const cluster = new ToyCluster(settings, { a: 4 });
      cluster.queue("huge", 9, { priority: 1, preemptible: true });
      cluster.queue("small", 1, { priority: 2 });
      return cluster.placed();
    };
    expect(outcome(compat)).toEqual([]);
    expect(outcome({ backfill: "any" })).toEqual(["small"]);
  });

  test("splits a run only over whole agents of one size, unlike Trainyard's rules", () => {
    const outcome = (settings: object) => {
      const cluster = new ToyCluster(settings, { a: 4, b: 2 });
      cluster.queue("run", 6);
      return cluster.placed();
    };
    expect(outcome(compat)).toEqual([]);
    expect(outcome({})).toEqual(["run"]);
  });

  test("gives a run on several agents the slots of each agent", () => {
    const cluster = new ToyCluster(compat, { a: 2, b: 2, c: 1 });
    cluster.queue("run", 4);
    const [grant] = cluster.pass().grants;
    expect(grant?.shares.map(({ slots }) => slots)).toEqual([
      ["0", "1"],
      ["0", "1"],
    ]);
    expect(grant?.shares.map(({ agent }) => agent).toSorted()).toEqual(["a", "b"]);
  });

  test("stops victims once, and starts the preempting run after they have ended", () => {
    const cluster = new ToyCluster({ ...compat, preemption: true }, { a: 2 });
    cluster.queue("victim", 2, { priority: 90 });
    cluster.pass();
    cluster.queue("better", 1, { priority: 10 });
    expect(cluster.pass()).toMatchObject({ grants: [], stops: [{ id: "victim", by: "better" }] });
    expect(cluster.pass()).toMatchObject({ grants: [], stops: [] });
    cluster.end("victim");
    expect(cluster.placed()).toEqual(["better"]);
  });

  test("shares slots fairly among jobs, by their weights and maxSlots", () => {
    const cluster = new ToyCluster({ ...compat, policy: "fair_share" }, { a: 8 });
    for (let n = 0; n < 8; n += 1) {
      cluster.queue(`x${n}`, 1, { job: "x", weight: 3 });
      cluster.queue(`y${n}`, 1, { job: "y", weight: 1, maxSlots: 1 });
    }
    const placed = cluster.placed();
    expect(placed.filter((id) => id.startsWith("y"))).toHaveLength(1);
    expect(placed).toHaveLength(8);
  });

  test("prefers a job that a user moved ahead of an earlier job", () => {
    const cluster = new ToyCluster(compat, { a: 1 });
    cluster.queue("early", 1);
    cluster.queue("late", 1);
    cluster.pool.updateJob("late", { place: 0.5 });
    expect(cluster.placed()).toEqual(["late"]);
  });

  test("packs or spreads runs as the pool's settings say", () => {
    const outcome = (fit: "pack" | "spread") => {
      const cluster = new ToyCluster({ ...compat, fit }, { large: 8, small: 2 });
      cluster.queue("first", 1);
      cluster.pass();
      cluster.queue("second", 1);
      return (
        cluster.pass().grants[0]?.shares[0]?.agent === cluster.running.get("first")?.[0]?.agent
      );
    };
    expect(outcome("pack")).toBe(true);
    expect(outcome("spread")).toBe(false);
  });

  test("grants no more runs than the limit of a pass", () => {
    const cluster = new ToyCluster(compat, { a: 4 });
    for (const id of ["1", "2", "3"]) cluster.queue(id, 1);
    const ids = place(cluster.pool, { nowMs: 0, grantsMax: 2 }).grants.map(({ id }) => id);
    expect(ids).toEqual(["1", "2"]);
  });
});

describe("a run under Determined's rules", () => {
  const withZones = () => {
    const cluster = new ToyCluster(compat);
    for (const [id, zone, device] of [
      ["a", "east", "cpu"],
      ["b", "west", "cuda"],
      ["c", "west", "cuda"],
    ] as const) {
      const slots = exampleOffer(2).slots.map((slot) => ({ ...slot, device, memoryBytes: 8 }));
      cluster.pool.agents.join(id, { slots, labels: { zone } }, true);
    }
    return cluster;
  };
  const blockedFrom = (constraints: Partial<Constraints>, slots = 1, avoid: string[] = []) => {
    const cluster = withZones();
    cluster.queue("run", slots, { constraints: { ...anywhere, ...constraints }, avoid });
    const [task] = queueOf(cluster.pool).tasks;
    return task?.blockedAgents.toSorted();
  };

  test("is blocked from agents that do not meet its constraints and from excluded agents", () => {
    const west = { label: "zone", values: ["west"] };
    expect(blockedFrom({})).toEqual([]);
    expect(blockedFrom({ required: [west] })).toEqual(["a"]);
    expect(blockedFrom({ forbidden: [west] })).toEqual(["b", "c"]);
    expect(blockedFrom({ device: "cuda" })).toEqual(["a"]);
    expect(blockedFrom({ deviceMemoryBytes: 9 })).toEqual(["a", "b", "c"]);
    expect(blockedFrom({ excludedAgents: ["b"] })).toEqual(["b"]);
    expect(blockedFrom({ device: "cuda" }, 0), "no devices without slots").toEqual([]);
  });

  test("is blocked from agents where its launch failed while other agents could hold it", () => {
    expect(blockedFrom({}, 1, ["a"])).toEqual(["a"]);
    expect(blockedFrom({}, 1, ["a", "b", "c"])).toEqual([]);
  });

  test("goes to a single agent if its agents must share a label", () => {
    const cluster = withZones();
    cluster.queue("run", 4, { constraints: { ...anywhere, sameLabel: "zone" } });
    expect(cluster.placed()).toEqual([]);
  });

  test("gets no disabled slot and no slot of an agent that takes no work", () => {
    const cluster = new ToyCluster(compat, { a: 2, b: 2 });
    cluster.pool.agents.setSlotDisabled("a", "0", true);
    cluster.pool.agents.join("b", exampleOffer(2), false);
    cluster.queue("pair", 2);
    cluster.queue("one", 1);
    expect(cluster.pass().grants).toEqual([
      { id: "one", shares: [{ agent: "a", slots: ["1"] }], borrowed: 0 },
    ]);
  });
});

type Step =
  | { readonly kind: "queue"; readonly slots: number; readonly job: number; readonly soft: boolean }
  | { readonly kind: "end"; readonly nth: number }
  | { readonly kind: "disable"; readonly slot: number; readonly off: boolean }
  | { readonly kind: "away"; readonly present: boolean }
  | { readonly kind: "pass" };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "pass" as const }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("queue" as const),
      slots: fc.nat({ max: 9 }),
      job: fc.nat({ max: 3 }),
      soft: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("end" as const), nth: fc.nat() }) },
  fc.record({ kind: fc.constant("disable" as const), slot: fc.nat(3), off: fc.boolean() }),
  fc.record({ kind: fc.constant("away" as const), present: fc.boolean() }),
);

const sizes = { a: 4, b: 4, c: 3 };

function checkedPass(cluster: ToyCluster): void {
  const stoppingBefore = new Set(cluster.stopping);
  const { grants, stops } = cluster.pass();
  for (const { id, shares } of grants) {
    const slots = shares.reduce((sum, share) => sum + share.slots.length, 0);
    expect(slots, "no half gang").toBe(cluster.pool.placed.get(id)?.demand.slots);
  }
  for (const { id } of stops) {
    expect(cluster.pool.placed.get(id)?.demand.preemptible).toBe(true);
    expect(stoppingBefore.has(id), "asked once").toBe(false);
  }
  const held = [...cluster.running.values()]
    .flat()
    .flatMap(({ agent, slots }) => slots.map((slot) => `${agent}/${slot}`));
  expect(new Set(held).size, "no slot twice").toBe(held.length);
}

test("over many passes no slot is granted twice, no gang is split, and only preemptible runs are stopped, each once", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("priority" as const, "fair_share" as const),
      fc.boolean(),
      fc.array(anyStep, { maxLength: 50 }),
      (policy, preemption, steps) => {
        const cluster = new ToyCluster({ ...compat, policy, preemption }, sizes);
        for (const [at, step] of steps.entries()) {
          if (step.kind === "pass") checkedPass(cluster);
          else if (step.kind === "queue") {
            const { slots, job, soft: preemptible } = step;
            cluster.queue(`r${at}`, slots, { job: `j${job}`, priority: 40 + job, preemptible });
          } else if (step.kind === "end") {
            const ids = [...cluster.running.keys()];
            cluster.end(...ids.slice(step.nth % (ids.length || 1)).slice(0, 1));
          } else if (step.kind === "disable") {
            cluster.pool.agents.setSlotDisabled("a", String(step.slot), step.off);
          } else cluster.pool.agents.join("b", exampleOffer(sizes.b), step.present);
        }
        checkedPass(cluster);
      },
    ),
    { numRuns: 300 },
  );
});
