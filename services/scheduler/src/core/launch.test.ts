import { describe, expect, test } from "vitest";
import type { Agent, Allocation } from "./cluster/state.ts";
import { launchOf } from "./launch.ts";

const environment_variables = { cpu: ["A=cpu"], cuda: ["A=cuda"], rocm: ["A=rocm"] };

/** The variables of a run that holds these slots of an agent with two slots of this kind. */
function variablesOn(device: string, slots: readonly string[]): readonly string[] {
  const placement = { agent: "a1", slots, nodeRank: 0, address: "h" };
  const grant = { position: 7, placements: [placement], masterAddress: "h", masterPort: 1 };
  const offered = ["0", "1"].map((id) => ({ id, device, uuid: "", memoryBytes: 0 }));
  const launch = launchOf(
    { id: "1.1#1", task: "1.1", run: 1, grant } as unknown as Allocation,
    { id: "a1", joined: { slots: offered } } as unknown as Agent,
    {
      experiment: {
        config: { entrypoint: "true", environment: { environment_variables } },
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
  return "problem" in launch ? [launch.problem] : launch.environmentVariables;
}

describe("the environment variables of a run", () => {
  test.each(["cpu", "cuda", "rocm"])("are those of the kind of its slots: %s", (device) => {
    expect(variablesOn(device, ["1"])).toEqual([`A=${device}`]);
  });

  test("are those of cpu without slots, on a host with GPUs too: it sees none of them", () => {
    expect(variablesOn("cuda", [])).toEqual(["A=cpu"]);
  });

  test("are those of the agent's kind where the slot has left since", () => {
    expect(variablesOn("cuda", ["gone"])).toEqual(["A=cuda"]);
  });
});
