import { createNatsBus } from "@trainyard/bus";
import { startNats, type TestNats } from "@trainyard/bus/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runInstall } from "../testing/run-install.ts";
import { natsUsersText, passwordVariable } from "./nats-users.ts";

const passwords: Readonly<Record<string, string>> = {
  scheduler: "plain7",
  gateway: `p@ss/wo:rd%20#?'$x{`,
  "agent-rack.1": "plain8",
  "feed-nightly": "12345",
};
let nats: TestNats;
let printed = "";

beforeAll(async () => {
  const names = ["--agent", "rack.1", "--agent", "rack2", "--subscription", "nightly"];
  const { code, stdout } = await runInstall("install", "nats-users", ...names);
  expect(code).toBe(0);
  printed = stdout;
  const variables = [...printed.matchAll(/password: \$(\w+)/g)].map(([, name]) => name ?? "");
  const set = Object.entries(passwords).map(
    ([user, password]) => [passwordVariable(user), JSON.stringify(password)] as const,
  );
  const environment = {
    ...Object.fromEntries(variables.map((variable) => [variable, "other"])),
    ...Object.fromEntries(set),
  };
  nats = await startNats({ configuration: printed, environment });
});
afterAll(() => nats?.[Symbol.asyncDispose]());

const busAs = (user: string, password = passwords[user] ?? "", problems: string[] = []) =>
  createNatsBus({
    servers: nats.url,
    name: user,
    password,
    onProblem: (problem) => problems.push(problem.message),
  });

test("a nats-server with the printed users serves each with its password, of any character, and its permissions", async () => {
  await using scheduler = await busAs("scheduler");
  await using gateway = await busAs("gateway");
  await using agent = await busAs("agent-rack.1");
  await scheduler.serve("scheduler", {
    SomeCommand: async ({ body }) => ({ kind: "ok", body }),
  });
  const headers = { commitId: "1", authid: "test", traceparent: "", correlationid: "" };
  const request = { headers, body: new TextEncoder().encode("asked") };
  const reply = await gateway.request("scheduler", "SomeCommand", request, 5_000);
  expect(reply).toMatchObject({ kind: "ok" });
  for (const [bus, subject] of [
    [agent, "ty.agent.rack2.do"],
    [scheduler, "ty.feed.nightly"],
  ] as const) {
    const refused = bus.subscribe(subject, () => {});
    await expect(refused).rejects.toMatchObject({ code: "not_permitted" });
  }
});

test("a nats-server with the printed users refuses the password of another user", async () => {
  const problems: string[] = [];
  await using bus = await busAs("scheduler", passwords["gateway"], problems);
  expect(bus).toBeDefined();
  await expect.poll(() => problems.join(), { timeout: 10_000 }).toMatch(/refuses the user/);
});

test("the printed configuration has no password, and names the variable of each user", () => {
  expect(printed).toContain(
    'user: "checkpoint-gc"\n      password: $TRAINYARD_NATS_CHECKPOINT_GC\n',
  );
  expect(printed).toContain("#   TRAINYARD_NATS_AGENT_RACK_1\n");
  expect(natsUsersText(["rack.1", "rack2"], ["nightly"])).toBe(printed);
});

test("a wrong argument or two users with one variable end the program with one line", async () => {
  expect(await runInstall("nats-users", "--agents", "a")).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/^nats-users: Unknown option '--agents'.*\n$/),
  });
  expect(await runInstall("nats-users", "--agent", "a.b", "--agent", "a-b")).toMatchObject({
    code: 1,
    stderr:
      "nats-users: the users agent-a.b and agent-a-b would share the variable TRAINYARD_NATS_AGENT_A_B: rename one of them\n",
  });
});
