import { connect } from "@nats-io/transport-node";
import type { Fault } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { bytes, commandOf, until } from "../contract/fixture.ts";
import { busLimits } from "../limits.ts";
import { startNats } from "../testing/nats-server.ts";
import { createNatsBus } from "./nats-bus.ts";

test("discovery tools for the NATS services API find each replica, its commands and its statistics", async () => {
  await using server = await startNats();
  await using one = await createNatsBus({
    servers: server.url,
    name: "registry",
    version: "1.2.3",
  });
  await using two = await createNatsBus({
    servers: server.url,
    name: "registry",
    version: "1.2.3",
  });
  for (const bus of [one, two]) {
    await bus.serve("registry", {
      DeclareCheckpoint: async ({ body }) => ({ kind: "ok", body }),
      CompleteCheckpoint: async () => {
        throw new Error("broken");
      },
    });
  }
  await using gateway = await createNatsBus({ servers: server.url, name: "gateway" });
  for (let count = 0; count < 4; count += 1) {
    await gateway.request("registry", "DeclareCheckpoint", commandOf("{}"), 5_000);
  }
  await gateway.request("registry", "CompleteCheckpoint", commandOf("{}"), 5_000).catch(() => {});

  const tool = await connect({ servers: server.url });
  const ask = async (subject: string): Promise<Record<string, unknown>[]> => {
    const answers: Record<string, unknown>[] = [];
    const replies = await tool.requestMany(subject, "", {
      strategy: "stall",
      stall: 50,
      maxWait: 2_000,
    });
    for await (const reply of replies) answers.push(reply.json());
    return answers;
  };
  const pings = await ask("$SRV.PING");
  expect(pings).toHaveLength(2);
  expect(new Set(pings.map(({ id }) => id)).size).toBe(2);
  expect(pings[0]).toMatchObject({
    type: "io.nats.micro.v1.ping_response",
    name: "registry",
    version: "1.2.3",
    metadata: {},
  });
  const [info] = await ask(`$SRV.INFO.registry.${pings[0]?.["id"]}`);
  expect(info).toMatchObject({
    type: "io.nats.micro.v1.info_response",
    endpoints: [
      {
        name: "DeclareCheckpoint",
        subject: "ty.cmd.registry.DeclareCheckpoint",
        queue_group: "registry",
      },
      {
        name: "CompleteCheckpoint",
        subject: "ty.cmd.registry.CompleteCheckpoint",
        queue_group: "registry",
      },
    ],
  });
  const stats = (await ask("$SRV.STATS.registry")).flatMap(
    ({ endpoints }) => endpoints as { name: string; num_requests: number; num_errors: number }[],
  );
  const total = (name: string, key: "num_requests" | "num_errors"): number =>
    stats.filter((one_) => one_.name === name).reduce((sum, one_) => sum + one_[key], 0);
  expect(total("DeclareCheckpoint", "num_requests")).toBe(4);
  expect(total("CompleteCheckpoint", "num_errors")).toBe(1);
  await tool.close();
});

test("an answer too large for the bus is reported as a failed command", async () => {
  await using server = await startNats();
  const problems: Fault[] = [];
  await using served = await createNatsBus({
    servers: server.url,
    name: "logs",
    onProblem: (problem) => problems.push(problem),
  });
  const tooMuch = bytes("x".repeat(busLimits.messageBytesMax + 1));
  await served.serve("logs", { ReadLines: async () => ({ kind: "ok", body: tooMuch }) });
  await using gateway = await createNatsBus({ servers: server.url, name: "gateway" });
  const asked = gateway.request("logs", "ReadLines", commandOf("{}"), 5_000);
  await expect(asked).rejects.toMatchObject({ code: "command_failed" });
  expect(problems).toHaveLength(1);
  const sent = gateway.request("logs", "ReadLines", { ...commandOf(""), body: tooMuch }, 5_000);
  await expect(sent).rejects.toMatchObject({ code: "message_too_large", retry: "never" });
});

test("a listener that throws affects neither other listeners nor the connection", async () => {
  await using server = await startNats();
  const problems: Fault[] = [];
  await using bus = await createNatsBus({
    servers: server.url,
    name: "gateway",
    onProblem: (problem) => problems.push(problem),
  });
  await bus.subscribe("ty.log.>", () => {
    throw new Error("broken listener");
  });
  const heard = new Promise<void>((resolve) => {
    void bus
      .subscribe("ty.log.last", () => resolve())
      .then(() => {
        bus.publish("ty.log.first", bytes("1"));
        bus.publish("ty.log.last", bytes("2"));
      });
  });
  await heard;
  expect(problems.map(({ code }) => code)).toEqual(["callback_threw", "callback_threw"]);
});

test("an answer whose connection has ended is not reported as the handler's fault", async () => {
  await using server = await startNats();
  const problems: Fault[] = [];
  await using bus = await createNatsBus({
    servers: server.url,
    name: "registry",
    onProblem: (problem) => problems.push(problem),
  });
  const atWork = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const served = await bus.serve("registry", {
    Ask: async ({ body }) => {
      atWork.resolve();
      await release.promise;
      return { kind: "ok", body };
    },
  });
  const asked = bus.request("registry", "Ask", commandOf("{}"), 5_000).catch(() => null);
  await atWork.promise;
  await server.restart();
  await until("it is back", () => bus.connected());
  release.resolve();
  await asked;
  await served[Symbol.asyncDispose]();
  expect(problems).toEqual([]);
});
