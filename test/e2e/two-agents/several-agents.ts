import { expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

const config = (slots: number): string => `
name: wide
entrypoint: python3 train.py
searcher: { name: single, metric: loss }
resources: { slots_per_trial: ${slots} }
`;

const kill = async (experiment: string): Promise<void> => {
  await world.client.call("killExperiment", { experiment });
};

test("a trial with more slots than an agent has runs on several, each with its rank, all or nothing", async () => {
  const id = await world.submit(config(4), world.code("ranks"));
  expect(await world.end(id)).toBe("COMPLETED");
  const logs = await world.logs(`${id}.1`);
  expect(logs).toMatch(/rank 0 of 2 with slots \d,\d/);
  expect(logs).toMatch(/rank 1 of 2 with slots \d,\d/);
  expect(logs).toContain("all met");
});

test("profiling samples each node of a trial once, however many of its processes are on the node", async () => {
  const twoOfEach = "for rank in 0 1; do LOCAL_RANK=$rank python3 train.py & done; wait";
  const text = config(4).replace("python3 train.py", twoOfEach);
  const id = await world.submit(`${text}profiling: { enabled: true }`, world.code("sampled"));
  expect(await world.end(id)).toBe("COMPLETED");
  const trial = `${id}.1`;
  const logs = await world.logs(trial);
  for (const node of [0, 1]) {
    expect(logs.match(new RegExp(`node ${node} samples: True`, "g"))?.length).toBe(1);
    expect(logs.match(new RegExp(`node ${node} samples: False`, "g"))?.length).toBe(1);
  }
  const { summaries } = await world.client.call("getTrialProfile", { trial });
  const used = summaries.filter(({ value }) => value?.name === "used_bytes");
  expect(used.map(({ node }) => node)).toEqual([0, 1]);
  expect(new Set(used.map(({ agent }) => agent)).size).toBe(2);
});

test("a trial without slots runs beside one that uses all slots", async () => {
  const wide = await world.submitPaused(config(4), world.code("ranks"));
  const none = await world.submit(config(0), world.code("ranks"));
  expect(await world.end(none)).toBe("COMPLETED");
  await kill(wide);
});

test("a run that does not fit at present waits, and shows the reason", async () => {
  const sleeper = config(3).replace("python3 train.py", "sleep 600");
  const first = await world.submit(sleeper, world.code("ranks"));
  await world.untilTrials(first, (trials) => trials[0]?.runs[0]?.state === "RUNNING");
  const second = await world.submit(config(2), world.code("ranks"));
  await eventually("the second says what it waits for", async () => {
    const trial = await world.client.call("getTrial", { trial: `${second}.1` });
    return trial.runs[0]?.state === "QUEUED" && trial.runs[0].waitsFor !== "";
  });
  const { job, runs } = await world.client.call("explainJob", { job: second });
  expect(job).toMatchObject({ job: second, pool: "default", runsWaiting: 1, slotsWanted: 2 });
  expect(runs).toMatchObject([{ run: `${second}.1#1`, placements: [] }]);
  const explained = (await world.yard("job", "explain", second)).out;
  expect(explained).toContain(runs[0]?.detail);
  expect((await world.yard("experiment", "describe", second)).out).toContain(
    `run ${second}.1#1 waits: ${runs[0]?.detail}`,
  );
  const removed = await world.yard("agent", "remove", "agent-1");
  expect(removed).toMatchObject({
    code: 2,
    err: expect.stringContaining("drain it first") as string,
  });
  await kill(first);
  expect(await world.end(second)).toBe("COMPLETED");
  expect(await world.yard("job", "explain", second)).toMatchObject({
    code: 2,
    err: `Experiment ${second} has ended: it is COMPLETED.\n`,
  });
});

test("waiting experiments are moved and updated in the queue, and start in the new order", async () => {
  const sleeper = config(4).replace("python3 train.py", "sleep 600");
  const first = await world.submit(sleeper, world.code("ranks"));
  await world.untilTrials(first, (trials) => trials[0]?.runs[0]?.state === "RUNNING");
  const [second, third] = [
    await world.submit(sleeper, world.code("ranks")),
    await world.submit(sleeper, world.code("ranks")),
  ];
  const queue = async () => {
    const { items } = await world.client.call("listJobs", { pool: "default" });
    return items.filter(({ runsWaiting }) => runsWaiting > 0).map(({ job }) => job);
  };
  const untilQueue = (...jobs: readonly string[]) =>
    eventually(
      `${jobs.join(", ")} wait in this order`,
      async () => (await queue()).join() === jobs.join(),
    );
  await untilQueue(second, third);
  expect((await world.yard("job", "move", third, "--ahead-of", second)).code).toBe(0);
  await untilQueue(third, second);
  expect((await world.yard("job", "update", second, "--priority", "1")).code).toBe(0);
  await untilQueue(second, third);
  await kill(first);
  await world.untilTrials(second, (trials) => trials[0]?.runs[0]?.state === "RUNNING");
  expect(await queue()).toEqual([third]);
  for (const id of [third, second]) await kill(id);
});

test("runs of a drained agent continue elsewhere from a checkpoint, and the agent gets runs again once it is enabled", async () => {
  const environment = `environment: { environment_variables: ["STEPS=90", "STEP_SECONDS=0.1"] }`;
  const id = await world.submit(`${config(1)}max_restarts: 0\n${environment}`, world.code("steps"));
  await world.untilTrials(id, ([trial]) => (trial?.stepsCompleted ?? 0) >= 6);
  const { runs } = await world.client.call("getTrial", { trial: `${id}.1` });
  const agent = runs[0]?.placements[0]?.agent ?? "";
  const shown = async () => {
    const { items } = await world.client.call("listAgents", {});
    return items.find(({ name }) => name === agent)?.disabled;
  };
  await world.client.call("drainAgent", { name: agent, reason: "new driver" });
  await eventually(`${agent} is drained`, async () => (await shown())?.state === "DRAINED");
  expect(await shown()).toMatchObject({ reason: "new driver" });
  expect(await world.end(id)).toBe("COMPLETED");
  const trial = await world.client.call("getTrial", { trial: `${id}.1` });
  expect(trial).toMatchObject({
    state: "COMPLETED",
    restarts: 0,
    runs: [{ whyEnded: "acknowledged_stop" }, {}],
  });
  expect(trial.runs.map(({ placements }) => placements[0]?.agent === agent)).toEqual([true, false]);
  const [, stop = "", second = ""] =
    (await world.logs(`${id}.1`)).match(/(starts|stops) at \d+/g) ?? [];
  expect(second).toBe(stop.replace("stops", "starts"));
  const wide = await world.submit(config(4), world.code("ranks"));
  await eventually("a run that needs all slots waits", async () => {
    const { items } = await world.client.call("listJobs", {});
    return items.some(({ job, runsWaiting }) => job === wide && runsWaiting === 1);
  });
  const [waiting] = (await world.client.call("explainJob", { job: wide })).runs;
  expect(waiting?.detail).toContain(agent);
  expect((await world.yard("agent", "enable", agent)).code).toBe(0);
  expect(await world.end(wide)).toBe("COMPLETED");
});

test("a disabled slot gets no run", async () => {
  const [agent, slot] = ["agent-1", "0"];
  expect((await world.yard("agent", "disable", agent, "--slot", slot)).code).toBe(0);
  const ids: string[] = [];
  for (const _ of [1, 2, 3]) ids.push(await world.submit(config(1), world.code("ranks")));
  for (const id of ids) {
    expect(await world.end(id)).toBe("COMPLETED");
    const { runs } = await world.client.call("getTrial", { trial: `${id}.1` });
    expect(runs[0]?.placements).not.toMatchObject([{ agent, slots: [slot] }]);
  }
  expect((await world.yard("agent", "enable", agent, "--slot", slot)).code).toBe(0);
  expect(await world.yard("agent", "disable", agent, "--slot", "9")).toMatchObject({
    code: 2,
    err: "Agent agent-1: it has no slot 9, but the slots 0, 1.\n",
  });
});

test("pools are created, updated, described and removed, and a pool in use is kept", async () => {
  const options = ["--policy", "fair_share", "--quota", "research=2:borrow", "--ageing", "10m"];
  expect((await world.yard("pool", "create", "gpus", ...options)).code).toBe(0);
  expect((await world.yard("pool", "create", "gpus")).code).toBe(2);
  expect((await world.yard("pool", "update", "gpus", "--preemption")).code).toBe(0);
  expect(await world.json("pool", "describe", "gpus")).toMatchObject({
    policy: "fair_share",
    settings: {
      preemption: true,
      backfill: "reserved",
      ageingMs: 600_000,
      quotas: [{ workspace: "research", slots: 2, borrow: true }],
    },
  });
  const list = (await world.yard("pool", "list")).out;
  expect(list).toMatch(/default +priority +2\/2 +4/);
  expect((await world.yard("pool", "remove", "default")).code).toBe(2);
  expect((await world.yard("pool", "remove", "gpus")).code).toBe(0);
  expect((await world.yard("pool", "describe", "gpus")).code).toBe(2);
});
