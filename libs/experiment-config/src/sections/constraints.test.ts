import { describe, expect, it } from "vitest";
import { type JsonObject, mappingAt } from "../json.ts";
import { exportJsonSchema } from "../json-schema.ts";
import { recordedConfig, requestedResources } from "../recorded.ts";
import { config, defaults } from "../testing/documents.ts";

const constraintsOf = (text: string) =>
  config(`resources: {constraints: ${text}}`).resources.constraints;

describe("resources.constraints", () => {
  it("are absent unless they are given", () => {
    expect(config().resources).not.toHaveProperty("constraints");
    expect(recordedConfig({ resources: { constraints: 7 } }).resources).not.toHaveProperty(
      "constraints",
    );
  });

  it("have every key, with labels as lists of values and memory in bytes", () => {
    const text =
      "{require: {zone: a, gpu: [a100, h100], rack: 3, ssd: true}, prefer: {fast: yes}, device_memory: 80GB}";
    expect(constraintsOf(text)).toEqual({
      device: "",
      device_memory: 80e9,
      require: { gpu: ["a100", "h100"], rack: ["3"], ssd: [], zone: ["a"] },
      prefer: { fast: ["yes"] },
      forbid: {},
      exclude_agents: [],
      same_label: "",
    });
    expect(constraintsOf("{}")).toMatchObject({ device: "", require: {} });
  });

  it.each([
    ["80GB", 80e9],
    ["80 gb", 80e9],
    ["1.5G", 1.5e9],
    ["80GiB", 80 * 2 ** 30],
    [".5 mib", 2 ** 19],
    ["7", 7],
    ["7b", 7],
    [1024, 1024],
  ])("accept the memory size %j as %d bytes", (size, bytes) => {
    expect(constraintsOf(`{device_memory: ${size}}`)).toMatchObject({ device_memory: bytes });
  });

  it("override the cluster's label by label, and add up excluded agents", () => {
    const cluster: JsonObject = {
      constraints: { require: { zone: "a", ssd: true }, exclude_agents: ["a"], device: "cuda" },
    };
    const { resources } = config(
      "resources: {constraints: {require: {zone: b}, exclude_agents: [b, a]}}",
      { defaults: { ...defaults, resources: cluster } },
    );
    expect(resources.constraints).toMatchObject({
      device: "cuda",
      require: { zone: ["b"], ssd: [] },
      exclude_agents: ["b", "a"],
    });
  });

  it("are in the JSON Schema with each key", () => {
    const resources = mappingAt(mappingAt(exportJsonSchema(), "properties"), "resources");
    const constraints = mappingAt(mappingAt(resources, "properties"), "constraints");
    expect(Object.keys(mappingAt(constraints, "properties"))).toEqual(
      Object.keys(constraintsOf("{}") ?? {}),
    );
    expect(constraints).toMatchObject({ additionalProperties: false });
  });
});

describe("the limits of a run", () => {
  it.each([
    ["2h", 7_200],
    ["90s", 90],
    ["1.5d", 129_600],
    ["0.5", 0.5],
  ])("accept the time limit %s as %d seconds", (text, seconds) => {
    expect(config(`resources: {time_limit: ${text}}`).resources.time_limit).toBe(seconds);
  });

  it("accept the preemption timeout in seconds, or 0", () => {
    expect(config("preemption_timeout: 5m").preemption_timeout).toBe(300);
    expect(config("preemption_timeout: 0").preemption_timeout).toBe(0);
    expect(recordedConfig({ preemption_timeout: -1 }).preemption_timeout).toBe(3_600);
  });

  it("treat 0 as no limit of slots", () => {
    expect(config("resources: {max_slots: 0}").resources.max_slots).toBeNull();
    expect(config("resources: {max_slots: 3}").resources.max_slots).toBe(3);
    const { resources } = recordedConfig({ resources: { max_slots: 0, weight: -1 } });
    expect(resources).toMatchObject({ max_slots: null, weight: 1 });
  });
});

describe("the requested resources of a run", () => {
  it("are those of its configuration", () => {
    const text = `
preemption_timeout: 5m
resources:
  slots_per_trial: 2
  priority: 7
  resource_pool: gpus
  weight: 3
  max_slots: 8
  time_limit: 2h
  is_single_node: true
  constraints:
    device: cuda
    device_memory: 80GB
    require: {zone: [a, b]}
    prefer: {fast: true}
    forbid: {spot: "yes"}
    exclude_agents: [gpu-1]
    same_label: rack`;
    expect(requestedResources(config(text))).toEqual({
      pool: "gpus",
      slots: 2,
      priority: 7,
      weight: 3,
      singleAgent: true,
      maxSlots: 8,
      timeLimitMs: 7_200_000,
      preemptionTimeoutMs: 300_000,
      constraints: {
        device: "cuda",
        deviceMemoryBytes: 80e9,
        required: [{ label: "zone", values: ["a", "b"] }],
        preferred: [{ label: "fast", values: [] }],
        forbidden: [{ label: "spot", values: ["yes"] }],
        excludedAgents: ["gpu-1"],
        sameLabel: "rack",
      },
    });
  });

  it("have no limits and no constraints by default", () => {
    expect(requestedResources(config())).toEqual({
      pool: "default",
      slots: 1,
      priority: 0,
      weight: 1,
      singleAgent: false,
      preemptionTimeoutMs: 3_600_000,
    });
  });
});
