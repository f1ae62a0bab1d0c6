/**
 * Tests experiments whose agents run containers, through the command line: training, a kill of the agent, and ranks on
 * two agents.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Podman, podmanProblem, testImage } from "@trainyard/service-agent/testing/podman";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { eventually } from "../world/eventually.ts";
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
  vi.stubEnv("TRAINYARD_AGENT_CONTAINER_HOST_PATHS", "/no");
  world = stack.use(await World.start({ agents: 3, slots: 2 }));
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
  return await world.logs(`${id}.1`);
}

test("an experiment trains in a container, and a kill of its agent costs neither a step nor a line", async () => {
  const id = await world.submit(config("python3 train.py", 1), world.code("steps"));
  await eventually("it has trained a little", async () => (await logsOf(id)).includes("step 3"));
  expect(podman.containers()).toHaveLength(1);
  // The agent of the run; the other agent has no part in it.
  const { runs } = await world.client.call("getTrial", { trial: `${id}.1` });
  const agent = runs[0]?.placements[0]?.agent ?? "";
  const killed = await world.kill(agent);
  await world.untilUp(agent, killed);
  expect(await world.end(id)).toBe("COMPLETED");
  const steps = [...(await logsOf(id)).matchAll(/step (\d+)$/gm)].map(([, step]) => Number(step));
  expect(steps).toEqual(Array.from({ length: 24 }, (_, n) => n + 1));
  const trial = await world.client.call("getTrial", { trial: `${id}.1` });
  expect(trial).toMatchObject({ state: "COMPLETED", stepsCompleted: 24, restarts: 0 });
  expect(podman.containers()).toEqual([]);
});

test("four ranks in containers of two agents meet, stop, and continue from their checkpoint", async () => {
  const launch = "python3 -m trainyard.launch.torch train.py";
  const id = await world.submit(config(launch, 4), world.code("together"));
  await eventually("all are under way", async () => {
    const log = await logsOf(id);
    if (log.split("under way").length === 5) return true;
    throw new Error(log);
  });
  expect(podman.containers()).toHaveLength(2);
  await world.client.call("pauseExperiment", { experiment: id });
  await world.untilTrials(id, ([trial]) => trial?.runs[0]?.state === "ENDED");
  expect(podman.containers()).toEqual([]);
  await world.client.call("activateExperiment", { experiment: id });
  const state = await world.end(id);
  const { runs } = await world.client.call("getTrial", { trial: `${id}.1` });
  expect(state, `${JSON.stringify(runs)}\n${await logsOf(id)}`).toBe("COMPLETED");
  expect((await logsOf(id)).match(/continues from \d+/g)).toHaveLength(4);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("a port of a running run is reached at the address in its description", async () => {
  const port = await freePort();
  const served = config(`python3 -S -m http.server --bind 127.0.0.1 ${port}`, 1).replace(
    "environment:",
    `environment:\n  proxy_ports: [{ proxy_port: ${port} }]`,
  );
  const id = await world.submit(served, world.code("steps"));
  const describe = async (): Promise<string> =>
    (await world.yard("trial", "describe", `${id}.1`)).out;
  await world.untilTrials(id, ([trial]) => trial?.runs[0]?.state === "RUNNING");
  await eventually("it serves", async () => {
    const [, shown = ""] = /at (http:\/\/\S+)/.exec(await describe()) ?? [];
    if (shown !== `http://127.0.0.1:${port}`) return false;
    return await fetch(shown).then(
      async (response) => (await response.text()).includes("train.py"),
      () => false,
    );
  });
  await world.client.call("killExperiment", { experiment: id });
  await world.untilTrials(id, ([trial]) => trial?.runs[0]?.state === "ENDED");
  expect(await describe()).not.toContain("http://");
});

type Ended = {
  readonly state: string;
  readonly restarts: number;
  readonly reason: string;
  readonly runs: readonly { readonly placements: readonly { readonly agent: string }[] }[];
};

async function endOf(mount: string): Promise<Ended> {
  const mounts = `bind_mounts: [{ host_path: ${mount}, container_path: data }]\n`;
  const restarts = config("echo never", 1).replace("max_restarts: 0", "max_restarts: 1");
  const id = await world.submit(`${restarts}${mounts}`, world.code("steps"));
  expect(await world.end(id)).toBe("ERROR");
  return await world.client.call("getTrial", { trial: `${id}.1` });
}

test("a forbidden container setting uses up the restarts, and the trial ends with the reason", async () => {
  const { state, restarts, reason, runs } = await endOf("/etc");
  expect({ state, restarts, runs: runs.length }).toEqual({ state: "ERROR", restarts: 1, runs: 2 });
  expect(reason).toMatch(
    /^run 2: bind_mounts names \/etc, which agent agent-\d does not allow: .*TRAINYARD_AGENT_CONTAINER_HOST_PATHS/,
  );
});

test("a run whose needs a host lacks is tried on others, costs no restart, and the trial ends with the reason", async () => {
  const { state, restarts, reason, runs } = await endOf("/no/such");
  expect({ state, restarts }).toEqual({ state: "ERROR", restarts: 0 });
  expect(reason).toMatch(
    /^5 attempts in a row .*\((agent-\d(, )?){3}\); run 5: bind_mounts names \/no\/such, which does not exist on agent agent-\d$/,
  );
  expect(new Set(runs.map(({ placements }) => placements[0]?.agent)).size).toBe(3);
});
