import type { Fault } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { bytes, commandOf, text, until } from "../contract/fixture.ts";
import { busLimits } from "../limits.ts";
import { permissionsOf } from "../permissions.ts";
import { startNats } from "../testing/nats-server.ts";
import { serversToDial } from "./link.ts";
import { createNatsBus } from "./nats-bus.ts";

const user = {
  name: "scheduler",
  password: "right",
  permissions: permissionsOf({ kind: "service", service: "scheduler" }),
};

test("a refused login is reported once and stops neither the process nor further connection attempts", async () => {
  await using server = await startNats({ users: [user] });
  const problems: Fault[] = [];
  await using bus = await createNatsBus({
    servers: server.url,
    name: "scheduler",
    password: "wrong",
    onProblem: (problem) => problems.push(problem),
  });
  expect(bus.connected()).toBe(false);
  const opened = performance.now();
  await until(
    "more attempts were made",
    () => performance.now() - opened > 4 * busLimits.dialWaitFirstMs,
  );
  expect(problems.map(({ code }) => code)).toEqual(["login_refused"]);
});

test("the last message before closing arrives", async () => {
  await using server = await startNats();
  await using listener = await createNatsBus({ servers: server.url, name: "scheduler" });
  const heard: string[] = [];
  await listener.subscribe("ty.agent.a.report", ({ body }) => heard.push(text(body)));
  {
    await using agent = await createNatsBus({ servers: server.url, name: "agent-a" });
    for (let count = 0; count < 100; count += 1) {
      agent.publish("ty.agent.a.report", bytes(String(count)));
    }
  }
  await until("all are heard", () => heard.length === 100);
});

test("closing a bus does not wait for a stalled or unavailable server", async () => {
  await using server = await startNats();
  const paused = await createNatsBus({ servers: server.url, name: "agent-a" });
  const away = await createNatsBus({ servers: "127.0.0.1:1", name: "agent-b" });
  await server.pause();
  const started = performance.now();
  await paused[Symbol.asyncDispose]();
  await away[Symbol.asyncDispose]();
  server.resume();
  expect(performance.now() - started).toBeLessThan(
    busLimits.closeFlushMs + busLimits.connectTimeoutMs,
  );
});

test("an invalid subject is refused to its caller and does not affect later messages", async () => {
  await using server = await startNats();
  await using bus = await createNatsBus({ servers: server.url, name: "scheduler" });
  await expect(bus.subscribe("not a subject", () => {})).rejects.toThrow();
  await server.restart();
  await until("it is back", () => bus.connected());
  const heard: string[] = [];
  await bus.subscribe("ty.agent.a.report", ({ body }) => heard.push(text(body)));
  bus.publish("ty.agent.a.report", bytes("still here"));
  await until("it is heard", () => heard.length === 1);
});

test("a server that is killed during a subscription blocks no caller", async () => {
  await using server = await startNats();
  await using bus = await createNatsBus({ servers: server.url, name: "scheduler" });
  const heard: string[] = [];
  await server.pause();
  const subscribed = bus.subscribe("ty.agent.a.report", ({ body }) => heard.push(text(body)));
  await server.crash();
  await subscribed;
  await server.start();
  await until("it is back", () => bus.connected());
  bus.publish("ty.agent.a.report", bytes("still here"));
  await until("it is heard", () => heard.length === 1);
});

test("the kill of a server does not delay the drain of a service", async () => {
  await using server = await startNats();
  await using bus = await createNatsBus({ servers: server.url, name: "scheduler" });
  const served = await bus.serve("scheduler", { Ask: async ({ body }) => ({ kind: "ok", body }) });
  await server.pause();
  const drained = served[Symbol.asyncDispose]();
  await server.crash();
  await drained;
  await server.start();
  await until("it is back", () => bus.connected());
  await using _again = await bus.serve("scheduler", {
    Ask: async ({ body }) => ({ kind: "ok", body }),
  });
  const reply = await bus.request("scheduler", "Ask", commandOf("{}"), 5_000);
  expect(reply.kind).toBe("ok");
});

test("cluster members are dialled after the configured servers, each once", () => {
  const members = ["10.0.0.1:4222", "10.0.0.2:4222"];
  expect(serversToDial("nats://10.0.0.1:4222", members)).toEqual([
    "nats://10.0.0.1:4222",
    "10.0.0.2:4222",
  ]);
  expect(serversToDial(["10.0.0.3:4222", "10.0.0.2:4222"], members)).toEqual([
    "10.0.0.3:4222",
    "10.0.0.2:4222",
    "10.0.0.1:4222",
  ]);
  expect(serversToDial("10.0.0.1:4222", [])).toEqual(["10.0.0.1:4222"]);
});
