import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../world/eventually.ts";
import { World } from "../world/world.ts";

let world: World;

beforeAll(async () => {
  world = await World.start({ agents: 2, slots: 2 });
});
afterAll(() => world[Symbol.asyncDispose]());

const config = (slots: number): string => `
name: wide
entrypoint: python3 train.py
searcher: { name: single, metric: loss }
resources: { slots_per_trial: ${slots} }
`;

test("a trial of more slots than an agent has runs on several, each with its rank, all or nothing", async () => {
  const id = await world.submit(config(4), world.code("ranks"));
  expect(await world.yard("e", "wait", id)).toMatchObject({ code: 0 });
  const logs = (await world.yard("trial", "logs", `${id}.1`)).out;
  expect(logs).toMatch(/rank 0 of 2 with slots \d,\d/);
  expect(logs).toMatch(/rank 1 of 2 with slots \d,\d/);
  expect(logs).toContain("all met");
});

test("profiling samples each node of a trial once, however many processes it has there", async () => {
  const twoOfEach = "for rank in 0 1; do LOCAL_RANK=$rank python3 train.py & done; wait";
  const text = config(4).replace("python3 train.py", twoOfEach);
  const id = await world.submit(`${text}profiling: { enabled: true }`, world.code("sampled"));
  expect(await world.yard("e", "wait", id)).toMatchObject({ code: 0 });
  const trial = `${id}.1`;
  const logs = (await world.yard("trial", "logs", trial)).out;
  for (const node of [0, 1]) {
    expect(logs.match(new RegExp(`node ${node} samples: True`, "g"))?.length).toBe(1);
    expect(logs.match(new RegExp(`node ${node} samples: False`, "g"))?.length).toBe(1);
  }
  const { summaries } = await world.client.call("getTrialProfile", { trial });
  const used = summaries.filter(({ value }) => value?.name === "used_bytes");
  expect(used.map(({ node }) => node)).toEqual([0, 1]);
  expect(new Set(used.map(({ agent }) => agent)).size).toBe(2);
});

test("a trial without slots runs beside one that has them all", async () => {
  const wide = await world.submit(config(4), world.code("ranks"), "--paused");
  const none = await world.submit(config(0), world.code("ranks"));
  expect(await world.yard("e", "wait", none)).toMatchObject({ code: 0 });
  expect((await world.yard("e", "kill", wide)).code).toBe(0);
});

test("what does not fit now waits, and says for what", async () => {
  const sleeper = config(3).replace("python3 train.py", "sleep 600");
  const first = await world.submit(sleeper, world.code("ranks"));
  await world.untilTrials(first, (trials) => trials[0]?.runs[0]?.state === "RUNNING");
  const second = await world.submit(config(2), world.code("ranks"));
  await eventually("the second says what it waits for", async () => {
    const trial = await world.client.call("getTrial", { trial: `${second}.1` });
    return trial.runs[0]?.state === "QUEUED" && trial.runs[0].waitsFor !== "";
  });
  expect((await world.yard("e", "kill", first)).code).toBe(0);
  expect(await world.yard("e", "wait", second)).toMatchObject({ code: 0 });
});
