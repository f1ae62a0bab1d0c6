/** Runs the programs of deploy/install as docs/operate/deploy.md shows them, on an embedded cluster. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { programFile } from "@trainyard/kernel/program-file";
import { freePort } from "@trainyard/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../../scripts/lib/root.ts";
import { type Said, World } from "../world/world.ts";

let world: World;
beforeAll(async () => {
  world = await World.start({ slots: 1 });
}, 120_000);
afterAll(() => world?.[Symbol.asyncDispose]());

function tried(environment: Readonly<Record<string, string>>, ...more: string[]): Promise<Said> {
  const main = programFile(join(root, "deploy/install/src/main.ts"));
  const child = spawn(process.execPath, [main, "install", "try", ...more], {
    env: { PATH: process.env["PATH"], TY_TEST_RUN: process.env["TY_TEST_RUN"], ...environment },
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (err += chunk));
  return new Promise((resolve) => {
    child.on("close", (code) => resolve({ code: code ?? 128, out, err }));
  });
}

const settings = () => ({ TRAINYARD_URL: world.access.api, TRAINYARD_TOKEN: world.access.token });

const left = async () => (await world.client.call("listExperiments", {})).items.map(({ id }) => id);

test("try runs an experiment where an agent has a free slot, checks metric and checkpoint, and deletes it", async () => {
  const { code, out, err } = await tried(settings());
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^agent agent-1 of the pool default has a free slot/);
  expect(out).toMatch(/experiment \d+: completed\n.*metric loss is 0.25\n.*is stored\n/);
  expect(out).toMatch(/deleted\nthe cluster trains, reports and stores checkpoints\n$/);
  expect(await left()).toEqual([]);
});

test("try says that no agent is there, and makes, reads and deletes an experiment only", async () => {
  const name = "agent-1";
  await world.client.call("disableAgent", { name, reason: "test" });
  const { code, out, err } = await tried(settings());
  await world.client.call("enableAgent", { name });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^no agent with a free slot is there/);
  expect(out).toMatch(/deleted\nthe cluster answers, but nothing has trained/);
  expect(await left()).toEqual([]);
});

test("try waits for an agent that is not there yet", async () => {
  const name = "agent-1";
  await world.client.call("disableAgent", { name, reason: "test" });
  const trying = tried(settings(), "--agent-within", "60");
  await delay(1_000);
  await world.client.call("enableAgent", { name });
  const { code, out } = await trying;
  expect(code).toBe(0);
  expect(out).toMatch(/^agent agent-1 of the pool default has a free slot/);
});

test("try fails with one sentence for a wrong token, an address without an answer, and a wrong setting", async () => {
  const refused = await tried({ ...settings(), TRAINYARD_TOKEN: "ty_0000_x" });
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^try: the API at http:\S+ refuses the test with 401 \w+: .*\n$/),
  });
  const port = await freePort();
  const away = { ...settings(), TRAINYARD_URL: `http://127.0.0.1:${port}` };
  expect(await tried(away, "--timeout", "0.5")).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^try: the API has not answered \(.*\) after 0.5 s\n$/),
  });
  expect(await tried({ ...settings(), TRAINYARD_TOKEN: "" })).toEqual({
    code: 2,
    out: "",
    err: "try: TRAINYARD_TOKEN must be an API token\n",
  });
});
