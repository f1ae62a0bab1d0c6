import { given } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { activated, exampleConfig, experimentCreated } from "../../testing/examples.ts";
import { experimentDecider } from "./decide.ts";
import { emptyPlan } from "./run-plan.ts";

const created = experimentCreated().data;

describe("creating an experiment", () => {
  test("activates it in the same commit", () => {
    given(experimentDecider)
      .when({ kind: "create", created, paused: false })
      .then(experimentCreated(), activated);
  });

  test("leaves it paused if the command says so", () => {
    given(experimentDecider)
      .when({ kind: "create", created, paused: true })
      .then(experimentCreated());
  });

  test("is refused for a number that exists already", () => {
    given(experimentDecider, experimentCreated())
      .when({ kind: "create", created, paused: false })
      .thenRejected("experiment_exists");
  });

  test("reads the plan of its runs from the configuration", () => {
    const config = {
      ...exampleConfig,
      resources: { slots_per_trial: 0, priority: 7, resource_pool: "gpu" },
    };
    expect(given(experimentDecider, experimentCreated(config)).state.plan).toEqual({
      resources: {
        pool: "gpu",
        slots: 0,
        priority: 7,
        weight: 1,
        singleAgent: false,
        preemptionTimeoutMs: 3_600_000,
      },
      maxRestarts: 2,
    });
  });

  test("reads the limits of its runs, and the pool and agents that they may use", () => {
    const constraints = {
      device: "cuda",
      device_memory: 80_000_000_000,
      require: { zone: ["a", "b"], nvlink: [] },
      prefer: {},
      forbid: { spot: [] },
      exclude_agents: ["gpu-7"],
      same_label: "rack",
    };
    const config = {
      ...exampleConfig,
      resources: {
        slots_per_trial: 8,
        weight: 2.5,
        max_slots: 16,
        time_limit: 3_600,
        is_single_node: true,
        constraints,
      },
      preemption_timeout: 600,
    };
    expect(given(experimentDecider, experimentCreated(config)).state.plan.resources).toEqual({
      pool: "default",
      slots: 8,
      priority: 0,
      weight: 2.5,
      singleAgent: true,
      maxSlots: 16,
      timeLimitMs: 3_600_000,
      preemptionTimeoutMs: 600_000,
      constraints: {
        device: "cuda",
        deviceMemoryBytes: 80_000_000_000,
        required: [
          { label: "nvlink", values: [] },
          { label: "zone", values: ["a", "b"] },
        ],
        preferred: [],
        forbidden: [{ label: "spot", values: [] }],
        excludedAgents: ["gpu-7"],
        sameLabel: "rack",
      },
    });
  });

  test("reads a configuration of another shape as the defaults", () => {
    const config = { resources: { slots_per_trial: "many" }, max_restarts: -1 };
    expect(given(experimentDecider, experimentCreated(config)).state.plan).toEqual(emptyPlan);
  });
});
