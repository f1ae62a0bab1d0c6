/** Experiments whose agents run containers, through the command line: training, a kill of the agent, and ranks on two agents. */
import { Podman, podmanProblem, testImage } from "@trainyard/service-agent/testing/podman";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { eventually } from "../world/eventually.ts";
import { notRun } from "../world/torch.ts";
import { World } from "../world/world.ts";

let stack: AsyncDisposableStack;
let podman: Podman;
let world: World;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  if (podmanProblem() !== null) return;
  podman = stack.use(await Podman.start());
  vi.stubEnv("TRAINYARD_AGENT_RUNTIME", "podman");
  vi.stubEnv("TRAINYARD_AGENT_ENGINE_SOCKET", podman.socket);
  world = stack.use(await World.start({ agents: 2, slots: 2 }));
});
afterAll(async () => {
  await stack.disposeAsync();
  vi.unstubAllEnvs();
});
beforeEach(({ skip }) => {
  const problem = podmanProblem();
  if (problem !== null) notRun(skip, problem);
});

const config = (entrypoint: string, slots: number): string => `
name: contained
entrypoint: ${entrypoint}
searcher: { name: single, metric: loss, smaller_is_better: true }
hyperparameters: { end: stop }
resources: { slots_per_trial: ${slots}, shm_size: 64M }
environment:
  image: ${testImage}
  environment_variables: [STEPS=24, STEP_SECONDS=0.2]
max_restarts: 0
`;

async function logsOf(id: string): Promise<string> {
  return (await world.yard("trial", "logs", `${id}.1`)).out;
}

test("an experiment trains in a container, and a kill of its agent costs neither a step nor a line", async () => {
  const id = await world.submit(config("python3 train.py", 1), world.code("steps"));
  await eventually("it has trained a little", async () => (await logsOf(id)).includes("step 3"));
  expect(podman.containers()).toHaveLength(1);
  // Where the run is; the other agent has nothing to do with it.
  const { runs } = await world.client.call("getTrial", { trial: `${id}.1` });
  const agent = runs[0]?.placements[0]?.agent ?? "";
  const killed = await world.kill(agent);
  await world.untilUp(agent, killed);
  expect(await world.yard("e", "wait", id)).toMatchObject({ code: 0 });
  const steps = [...(await logsOf(id)).matchAll(/step (\d+)$/gm)].map(([, step]) => Number(step));
  expect(steps).toEqual(Array.from({ length: 24 }, (_, n) => n + 1));
  const described = await world.json("trial", "describe", `${id}.1`);
  expect(described).toMatchObject({ state: "COMPLETED", stepsCompleted: 24, restarts: 0 });
  expect(podman.containers()).toEqual([]);
});

test("four ranks in containers of two agents meet, stop, and continue from their checkpoint", async () => {
  const launch = "python3 -m trainyard.launch.torch train.py";
  const id = await world.submit(config(launch, 4), world.code("together"));
  await eventually("all are under way", async () => {
    return (await logsOf(id)).split("under way").length === 5;
  });
  expect(podman.containers()).toHaveLength(2);
  expect((await world.yard("e", "pause", id)).code).toBe(0);
  await world.untilTrials(id, ([trial]) => trial?.runs[0]?.state === "ENDED");
  expect(podman.containers()).toEqual([]);
  expect((await world.yard("e", "activate", id)).code).toBe(0);
  expect(await world.yard("e", "wait", id)).toMatchObject({ code: 0 });
  expect((await logsOf(id)).match(/goes on from \d+/g)).toHaveLength(4);
});
