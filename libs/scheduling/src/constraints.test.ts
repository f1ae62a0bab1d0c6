import { describe, expect, test } from "vitest";
import { PoolAgents } from "./agents.ts";
import { type Constraints, conditionsOf, noConditions } from "./constraints.ts";
import { couldEverHold } from "./could-ever-hold.ts";
import type { Demand } from "./demand.ts";
import { shapeOf } from "./demand.ts";
import { fit } from "./fit.ts";
import { schedulingLimits } from "./limits.ts";
import { exampleDemand } from "./testing/example-demand.ts";

const GB = 1e9;
type Devices = readonly (readonly [device: string, gigabytes: number])[];

function agentsOf(
  offers: Readonly<
    Record<
      string,
      { readonly devices: Devices; readonly labels?: Readonly<Record<string, string>> }
    >
  >,
): PoolAgents {
  const agents = new PoolAgents();
  for (const [id, { devices, labels = {} }] of Object.entries(offers)) {
    const slots = devices.map(([device, gigabytes], n) => ({
      id: String(n),
      device,
      memoryBytes: gigabytes * GB,
    }));
    agents.join(id, { slots, labels }, true);
  }
  return agents;
}

const cuda = (count: number, gigabytes = 80): Devices =>
  Array.from({ length: count }, () => ["cuda", gigabytes]);
const cpu = (count: number): Devices => Array.from({ length: count }, () => ["cpu", 2]);

function asked(slots: number, constraints: Partial<Constraints>, rest: Partial<Demand> = {}) {
  return {
    ...exampleDemand,
    slots,
    ...rest,
    constraints: {
      device: "",
      deviceMemoryBytes: 0,
      required: [],
      preferred: [],
      forbidden: [],
      excludedAgents: [],
      sameLabel: "",
      ...constraints,
    },
  };
}

const rule = (label: string, ...values: readonly string[]) => ({ label, values });

/** Returns the placement as text, like "a:0,1+b:0", or null. */
function placeOf(agents: PoolAgents, demand: Demand, how?: "pack" | "spread"): string | null {
  const shares = fit(agents, demand, how);
  return shares?.map(({ agent, slots }) => `${agent}:${slots.join(",")}`).join("+") ?? null;
}

describe("a run with constraints", () => {
  test("gets devices of the required kind and memory, also on hosts with several kinds of device", () => {
    const agents = agentsOf({
      a: { devices: [...cpu(2), ...cuda(2, 16), ...cuda(2, 80)] },
      b: { devices: cuda(2, 16) },
    });
    expect(placeOf(agents, asked(1, { device: "cuda" }))).toBe("b:0");
    expect(placeOf(agents, asked(2, { deviceMemoryBytes: 40 * GB }))).toBe("a:4,5");
    expect(placeOf(agents, asked(2, { device: "cpu" }))).toBe("a:0,1");
    expect(placeOf(agents, asked(3, { deviceMemoryBytes: 40 * GB }))).toBeNull();
    expect(placeOf(agents, asked(1, { device: "rocm" }))).toBeNull();
    agents.hold("a", "x", ["4"]);
    expect(placeOf(agents, asked(1, { deviceMemoryBytes: 40 * GB }))).toBe("a:5");
  });

  test("needs no device if it has no slots", () => {
    const agents = agentsOf({ a: { devices: cpu(1) } });
    expect(placeOf(agents, asked(0, { device: "cuda", deviceMemoryBytes: 9e99 }))).toBe("a:");
  });

  test("is placed on agents with its required labels and without its forbidden labels", () => {
    const agents = agentsOf({
      a: { devices: cpu(1), labels: { zone: "a", spot: "true" } },
      b: { devices: cpu(2), labels: { zone: "a" } },
      c: { devices: cpu(3), labels: { zone: "c" } },
    });
    expect(placeOf(agents, asked(1, { required: [rule("zone", "a", "b")] }))).toBe("a:0");
    const noSpot = { required: [rule("zone", "a")], forbidden: [rule("spot")] };
    expect(placeOf(agents, asked(1, noSpot))).toBe("b:0");
    expect(placeOf(agents, asked(3, noSpot))).toBeNull();
    expect(placeOf(agents, asked(0, { forbidden: [rule("zone", "a")] }))).toBe("c:");
    expect(placeOf(agents, asked(1, { required: [rule("toString")] }))).toBeNull();
    expect(placeOf(agents, asked(1, { excludedAgents: ["a", "b"] }))).toBe("c:0");
  });

  test("takes agents with preferred labels first, even if another agent is the better fit", () => {
    const agents = agentsOf({
      a: { devices: cpu(1) },
      b: { devices: cpu(4), labels: { fast: "1" } },
      c: { devices: cpu(4), labels: { fast: "1", near: "1" } },
    });
    const preferred = [rule("fast"), rule("near")];
    expect(placeOf(agents, asked(1, { preferred }))).toBe("c:0");
    agents.hold("c", "x", ["0", "1", "2", "3"]);
    expect(placeOf(agents, asked(1, { preferred }))).toBe("b:0");
    expect(placeOf(agents, asked(5, { preferred }))).toBe("b:0,1,2,3+a:0");
    agents.hold("b", "y", ["0", "1", "2", "3"]);
    expect(placeOf(agents, asked(1, { preferred }))).toBe("a:0");
  });

  test("is placed on agents that have the same value of its label", () => {
    const agents = agentsOf({
      a: { devices: cpu(2), labels: { rack: "1" } },
      b: { devices: cpu(2), labels: { rack: "2" } },
      c: { devices: cpu(2), labels: { rack: "2" } },
      d: { devices: cpu(2) },
      e: { devices: cpu(3) },
    });
    expect(placeOf(agents, asked(4, { sameLabel: "rack" }))).toBe("b:0,1+c:0,1");
    expect(placeOf(agents, asked(3, { sameLabel: "rack" }))).toBe("e:0,1,2");
    expect(placeOf(agents, asked(5, { sameLabel: "rack" }))).toBeNull();
    agents.join("a", { slots: [], labels: { rack: "1" } }, true);
    agents.join("e", { slots: [], labels: {} }, true);
    agents.hold("c", "x", ["0"]);
    expect(placeOf(agents, asked(3, { sameLabel: "rack" }))).toBe("b:0,1+c:1");
  });

  test("takes the group of agents that has the preferred labels", () => {
    const agents = agentsOf({
      a: { devices: cpu(2), labels: { rack: "1" } },
      b: { devices: cpu(2), labels: { rack: "1" } },
      c: { devices: cpu(2), labels: { rack: "2", fast: "1" } },
      d: { devices: cpu(2), labels: { rack: "2" } },
    });
    const constraints = { sameLabel: "rack", preferred: [rule("fast")] };
    expect(placeOf(agents, asked(4, constraints))).toBe("c:0,1+d:0,1");
  });

  test("is placed on a single agent if it must be", () => {
    const agents = agentsOf({ a: { devices: cuda(2) }, b: { devices: cuda(2) } });
    expect(placeOf(agents, asked(4, { device: "cuda" }))).toBe("a:0,1+b:0,1");
    expect(placeOf(agents, asked(4, { device: "cuda" }, { singleAgent: true }))).toBeNull();
  });

  test("returns to an agent that it avoids only if no other agent could hold it", () => {
    const agents = agentsOf({
      a: { devices: cuda(1) },
      b: { devices: cuda(1) },
      c: { devices: cpu(1) },
    });
    const demand = asked(1, { device: "cuda" }, { avoid: ["a"] });
    agents.hold("b", "x", ["0"]);
    expect(placeOf(agents, demand)).toBeNull();
    agents.join("b", { slots: [], labels: {} }, true);
    expect(placeOf(agents, demand)).toBe("a:0");
    expect(placeOf(agents, { ...demand, avoid: ["a", "b"] })).toBe("a:0");
    const excluded = asked(1, { excludedAgents: ["a"], device: "cuda" }, { avoid: ["b"] });
    expect(placeOf(agents, excluded)).toBeNull();
  });
});

describe("spreading", () => {
  test("takes agents with preferred labels first, then the agent with the most free slots", () => {
    const agents = agentsOf({
      a: { devices: cpu(2), labels: { fast: "1" } },
      b: { devices: cpu(4) },
      c: { devices: cpu(3) },
    });
    expect(placeOf(agents, asked(1, {}), "spread")).toBe("b:0");
    expect(placeOf(agents, asked(1, {}), "pack")).toBe("a:0");
    agents.hold("b", "x", ["0", "1"]);
    expect(placeOf(agents, asked(1, {}), "spread")).toBe("c:0");
    expect(placeOf(agents, asked(1, { preferred: [rule("fast")] }), "spread")).toBe("a:0");
    expect(placeOf(agents, asked(4, {}), "spread")).toBe("c:0,1,2+a:0");
  });
});

test("equal constraints have one shape, and a demand with empty constraints has no conditions", () => {
  const { constraints: _, ...plain } = asked(1, {});
  expect(shapeOf(asked(1, {}))).toBe(shapeOf(plain));
  expect(shapeOf(asked(1, { device: "cuda" }))).toBe(shapeOf(asked(1, { device: "cuda" })));
  const shapes = [
    asked(1, {}),
    asked(1, { device: "cuda" }),
    asked(1, { deviceMemoryBytes: 1 }),
    asked(1, { required: [rule("a")] }),
    asked(1, { preferred: [rule("a")] }),
    asked(1, { forbidden: [rule("a")] }),
    asked(1, { forbidden: [rule("a", "b")] }),
    asked(1, { excludedAgents: ["a"] }),
    asked(1, { excludedAgents: ["b"] }),
    asked(1, { sameLabel: "a" }),
    asked(1, {}, { avoid: ["a"] }),
  ].map(shapeOf);
  expect(new Set(shapes).size).toBe(shapes.length);
  expect(conditionsOf(undefined).alone).toBe(noConditions);
});

test("a view that was evicted for newer ones is built again", () => {
  const agents = agentsOf({ a: { devices: cpu(1), labels: { n: "0" } } });
  const demandFor = (n: number) => asked(1, { required: [rule("n", String(n))] });
  expect(placeOf(agents, demandFor(0))).toBe("a:0");
  for (let n = 1; n <= schedulingLimits.viewsMax; n += 1) {
    expect(placeOf(agents, demandFor(n))).toBeNull();
  }
  agents.hold("a", "x", ["0"]);
  expect(placeOf(agents, demandFor(0))).toBeNull();
});

test("a view is up to date after any number of changes since its last use", () => {
  const agents = agentsOf({ a: { devices: cpu(2) }, b: { devices: cpu(2) } });
  const demand = asked(1, { device: "cpu" });
  for (const changes of [1, 10, 900, 1_000, 1_100, 2_100, 5_000, 3, 1_999, 2_001]) {
    agents.release("b", "y");
    expect(placeOf(agents, demand)).toBe("a:0");
    agents.hold("b", "y", ["0"]);
    for (let change = 0; change < changes; change += 1) agents.hold("a", "x", ["0", "1"]);
    expect(placeOf(agents, demand), `after ${changes}`).toBe("b:1");
    agents.release("a", "x");
  }
});

describe("a request that no agent could ever hold", () => {
  const gpus = agentsOf({
    "gpu-1": { devices: cuda(2), labels: { zone: "a" } },
    "gpu-3": { devices: cuda(4), labels: { zone: "b", rack: "1" } },
    old: { devices: cuda(8, 16), labels: { zone: "c", rack: "2", spot: "yes" } },
    mixed: { devices: [...cuda(2, 16), ...cpu(2)], labels: { rack: "2" } },
  });
  gpus.join(
    "gpu-1",
    {
      slots: [0, 1].map((n) => ({ id: String(n), device: "cuda", memoryBytes: 80 * GB })),
      labels: { zone: "a" },
    },
    false,
  );
  const big = { device: "cuda", deviceMemoryBytes: 80 * GB };
  const single = { singleAgent: true };

  test.each<[string, Demand, string]>([
    [
      "slots on one agent",
      asked(8, big, single),
      "no agent of pool gpus has 8 cuda slots with 80 GB; the nearest is gpu-3 with 4",
    ],
    [
      "a label that the nearest has with another value",
      asked(1, { ...big, required: [rule("zone", "x", "y")] }, single),
      "no agent of pool gpus has 1 cuda slot with 80 GB and zone x or y; the nearest is gpu-3 with 4: its zone is b",
    ],
    [
      "a label that no agent has",
      asked(0, { required: [rule("ssd")] }),
      "no agent of pool gpus has a ssd; the nearest is old: it has no ssd",
    ],
    [
      "a label that all have that would do",
      asked(8, { forbidden: [rule("spot")] }, single),
      "no agent of pool gpus has 8 slots and no spot; the nearest is gpu-3 with 4",
    ],
    [
      "devices that do not exist",
      asked(1, { device: "rocm" }),
      "no agent of pool gpus has 1 rocm slot; the nearest is old with 8 cuda slots",
    ],
    [
      "more memory than any device has",
      asked(16, { deviceMemoryBytes: 141.5 * GB }),
      "no agent of pool gpus has 1 slot with 141.5 GB; the nearest is gpu-3 with 4 cuda slots with 80 GB",
    ],
    [
      "agents that are all excluded",
      asked(1, { excludedAgents: ["gpu-1", "gpu-3", "old", "mixed"] }, single),
      "no agent of pool gpus has 1 slot; the nearest is old with 8: it is excluded",
    ],
    [
      "agents that are all excluded, for a run without slots",
      asked(0, { excludedAgents: ["gpu-1", "gpu-3", "old", "mixed"] }),
      "no agent of pool gpus is left; the nearest is old: it is excluded",
    ],
    [
      "more slots than all agents have together",
      asked(7, big),
      "all agents of pool gpus have 6 cuda slots with 80 GB together, and the run needs 7",
    ],
    [
      "more slots than the agents with a label have together",
      asked(17, { forbidden: [rule("zone", "a", "b")] }),
      "all agents of pool gpus with no zone a or b have 12 slots together, and the run needs 17",
    ],
    [
      "more slots than agents of one group have",
      asked(13, { sameLabel: "rack" }),
      "all agents of pool gpus with the same rack have at most 12 slots together, those with rack 2, and the run needs 13",
    ],
  ])("is explained with the nearest agent: %s", (_name, demand, detail) => {
    const key = "constraints";
    expect(couldEverHold(gpus, demand, "gpus")).toEqual({ possible: false, detail, key });
  });

  test("is judged by all agents that joined, including absent, full and blocked ones", () => {
    expect(couldEverHold(gpus, asked(6, big)).possible).toBe(true);
    expect(couldEverHold(gpus, asked(12, { sameLabel: "rack" }))).toEqual({
      possible: true,
      detail: "",
      key: "",
    });
    const agents = agentsOf({ a: { devices: cpu(2) } });
    agents.hold("a", "x", ["0", "1"]);
    agents.setSlotDisabled("a", "0", true);
    agents.setBlock("a", { kind: "low_disk", detail: "" });
    expect(couldEverHold(agents, asked(2, {})).possible).toBe(true);
  });

  test("is judged without removed agents until they join again", () => {
    const agents = agentsOf({ a: { devices: cpu(2) }, b: { devices: cpu(1) } });
    agents.remove("a");
    expect(agents.known).toEqual({ agents: 1, slots: 1 });
    expect(couldEverHold(agents, asked(2, {}))).toEqual({
      possible: false,
      detail: "all agents of the pool have 1 slot together, and the run needs 2",
      key: "slots_per_trial",
    });
    expect(fit(agents, asked(2, {}))).toBeNull();
    agents.join("a", { slots: [{ id: "0", device: "", memoryBytes: 0 }], labels: {} }, true);
    expect(couldEverHold(agents, asked(2, {})).possible).toBe(true);
  });

  test("does not exist in a pool without agents, since agents may still join", () => {
    const agents = agentsOf({ a: { devices: cpu(2) } });
    agents.remove("a");
    expect(couldEverHold(agents, asked(2, big)).possible).toBe(true);
  });
});
