import { describe, expect, test } from "vitest";
import type { Agent, Allocation } from "./cluster/state.ts";
import { launchOf } from "./launch.ts";

const environment_variables = { cpu: ["A=cpu"], cuda: ["A=cuda"], rocm: ["A=rocm"] };

/**
 * Returns the launch of a run with these slots on a1, which has two slots of this kind, and with slots on other nodes.
 */
function launchOn(
  device: string,
  slots: readonly string[],
  others: readonly object[] = [],
  more: object = {},
): ReturnType<typeof launchOf> {
  const placements = [...others, { agent: "a1", slots, nodeRank: 0, address: "h" }];
  const grant = { position: 7, placements, masterAddress: "h", masterPort: 1 };
  const offered = ["0", "1"].map((id) => ({ id, device, uuid: "", memoryBytes: 0 }));
  return launchOf(
    { id: "1.1#1", task: "1.1", run: 1, grant } as unknown as Allocation,
    { id: "a1", joined: { slots: offered } } as unknown as Agent,
    {
      experiment: {
        config: { entrypoint: "true", environment: { environment_variables }, ...more },
        contextDigest: "",
      },
      trial: {
        experiment: "1",
        run: 1,
        hyperparameters: {},
        seed: 1,
        fromCheckpoint: "",
        fromStep: 0,
      },
      token: "t",
    } as unknown as Parameters<typeof launchOf>[2],
  );
}

function variablesOn(device: string, slots: readonly string[]): readonly string[] {
  const launch = launchOn(device, slots);
  return "problem" in launch ? [launch.problem] : launch.environmentVariables;
}

describe("the environment variables of a run", () => {
  test.each(["cpu", "cuda", "rocm"])("are those for the kind of its slots: %s", (device) => {
    expect(variablesOn(device, ["1"])).toEqual([`A=${device}`]);
  });

  test("are those for cpu without slots, even on a host with GPUs, since the run sees none of them", () => {
    expect(variablesOn("cuda", [])).toEqual(["A=cpu"]);
  });

  test("are those for the agent's kind if the slot has disappeared since", () => {
    expect(variablesOn("cuda", ["gone"])).toEqual(["A=cuda"]);
  });
});

test("each node of a run gets the addresses of all nodes, by rank", () => {
  const others = [
    { agent: "a3", slots: ["0"], nodeRank: 2, address: "" },
    { agent: "a2", slots: ["0"], nodeRank: 1, address: "h2" },
  ];
  expect(launchOn("cpu", ["0"], others)).toMatchObject({ nodeAddresses: ["h", "h2", ""] });
});

test("a launch has the storages and the container of the configuration, for the kind of the run's slots", () => {
  const launch = launchOn("cuda", ["0"], [], {
    checkpoint_storage: { type: "s3", bucket: "b", prefix: "p", save_trial_best: 3 },
    tensorboard_storage: { type: "shared_fs", host_path: "/mnt/a" },
    environment: { image: { cpu: "a", cuda: "b", rocm: "c" } },
  });
  expect(launch).toMatchObject({
    checkpointStorage: { type: "s3", place: { bucket: "b", prefix: "p" } },
    tensorboardStorage: { type: "shared_fs", place: { host_path: "/mnt/a", storage_path: "" } },
    container: { image: "b" },
  });
  const directory = launchOn("cpu", []);
  expect(directory).toMatchObject({
    checkpointStorage: { type: "directory", place: { container_path: "" } },
    container: { image: "" },
  });
  expect(directory).not.toHaveProperty("tensorboardStorage");
});

test.each([
  ["random", {}, false],
  ["adaptive_asha", {}, true],
  ["of another version", {}, true],
  ["random", { early_stopping: [{ name: "no_improvement", patience: 3 }] }, true],
])("a launch says whether the search needs the metric: %s %j", (name, more, needsMetric) => {
  expect(launchOn("cpu", [], [], { searcher: { name }, ...more })).toMatchObject({
    searchNeedsMetric: needsMetric,
  });
});
