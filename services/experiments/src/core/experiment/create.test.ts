import { given } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { activated, exampleConfig, experimentCreated } from "../examples.ts";
import { experimentDecider } from "./decide.ts";
import { emptyPlan } from "./run-plan.ts";

const created = experimentCreated().data;

describe("creating an experiment", () => {
  test("activates it in the same commit", () => {
    given(experimentDecider)
      .when({ kind: "create", created, paused: false })
      .then(experimentCreated(), activated);
  });

  test("leaves it paused when that was asked for", () => {
    given(experimentDecider)
      .when({ kind: "create", created, paused: true })
      .then(experimentCreated());
  });

  test("is refused for a number that is taken", () => {
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

  test("reads what a configuration of another shape leaves open as the defaults", () => {
    const config = { resources: { slots_per_trial: "many" }, max_restarts: -1 };
    expect(given(experimentDecider, experimentCreated(config)).state.plan).toEqual(emptyPlan);
  });
});
