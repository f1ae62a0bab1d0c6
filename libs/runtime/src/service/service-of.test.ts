import { createMemoryBus } from "@trainyard/bus/testing";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { systemClock } from "@trainyard/kernel/system-clock";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { encodeRequest, type CommandTable } from "../commands/commands.ts";
import { Partition, type Term } from "../leadership/partition.ts";
import { type ListeningService, type ServicePlan, serviceOf } from "./service-of.ts";
import { createRegistry } from "./telemetry.ts";
import { noTracer } from "../tracing/tracer.ts";

const http = { host: "127.0.0.1", port: 0 };
const hub = createMemoryBus();

function serviceWith(plan: Omit<ServicePlan, "http">, closed: () => void): ListeningService {
  const stack = new AsyncDisposableStack();
  stack.defer(closed);
  const bus = hub.connect("experiments");
  const logger = pino({ enabled: false });
  const registry = createRegistry("experiments");
  const own = { clock: systemClock, tracer: noTracer };
  const parts = { name: "experiments", stack, bus, logger, registry, ...own };
  return serviceOf(parts, { http, ...plan });
}

async function readyz(address: string): Promise<string> {
  const response = await fetch(`${address}/readyz`);
  return `${response.status} ${await response.text()}`;
}

const pauseCommand: CommandTable<"experiments">["PauseExperiment"] = async () => ({
  position: 7,
  stream: "",
});

async function asked(): Promise<string> {
  const headers = { commitId: "1", authid: "", traceparent: "", correlationid: "" };
  const body = encodeRequest("experiments", "PauseExperiment", { experiment: "1" });
  const caller = hub.connect("gateway");
  const reply = await caller.request("experiments", "PauseExperiment", { headers, body }, 500).then(
    ({ kind }) => kind,
    () => "unavailable",
  );
  await caller[Symbol.asyncDispose]();
  return reply;
}

test("a draining service answers 503 and accepts no commands until its loops have ended, then closes its connections", async () => {
  const order: string[] = [];
  let end = (): void => {};
  const service = serviceWith(
    {
      prepare: async () => void order.push("prepared"),
      loops: [
        {
          run: async (signal) => {
            order.push("loop runs");
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
            order.push("loop asked to end");
            await new Promise<void>((resolve) => {
              end = resolve;
            });
            order.push("loop ended");
          },
        },
      ],
      commands: { PauseExperiment: pauseCommand },
      started: async () => void order.push("started"),
    },
    () => void order.push("connections closed"),
  );
  expect(service.readiness()).toBe("starting");
  await service.start();
  expect(order).toEqual(["prepared", "loop runs", "started"]);
  expect(await readyz(service.address())).toBe("200 ok\n");
  expect(await asked()).toBe("ok");
  const drained = service[Symbol.asyncDispose]();
  await vi.waitFor(() => expect(order).toContain("loop asked to end"), { timeout: 90_000 });
  expect(service.readiness()).toBe("draining");
  expect(await readyz(service.address())).toBe("503 draining\n");
  expect(await asked()).toBe("unavailable");
  expect(order).not.toContain("connections closed");
  end();
  await drained;
  expect(order.slice(3)).toEqual(["loop asked to end", "loop ended", "connections closed"]);
  await expect(readyz(service.address())).rejects.toThrow("fetch failed");
});

test("a service can be unready for a specific reason, and reports it while it listens", async () => {
  let reason: string | null = "the read model is behind";
  await using service = serviceWith({ unready: () => reason }, () => {});
  await service.start();
  expect(await readyz(service.address())).toBe("503 the read model is behind\n");
  reason = null;
  expect(await readyz(service.address())).toBe("200 ok\n");
});

test("a service reports that it is a standby until it serves the commands of its partition", async () => {
  const log = createMemoryLog().as("experiments");
  const bus = hub.connect("experiments");
  const deps = { log, bus, clock: systemClock, logger: pino({ enabled: false }) };
  const begun = Promise.withResolvers<Term>();
  const partition = new Partition("experiments", 0, deps, () => begun.promise);
  await using service = serviceWith({ partition }, () => {});
  await service.start();
  expect(service.readiness()).toBeNull();
  expect(await readyz(service.address())).toBe("200 standby\n");
  expect(await asked()).toBe("unavailable");
  begun.resolve({ reactions: { handlers: {} }, commands: { PauseExperiment: pauseCommand } });
  await expect.poll(() => readyz(service.address())).toBe("200 ok\n");
  expect(await asked()).toBe("ok");
});

test("a service with another HTTP server is notified at once when it drains", async () => {
  const heard: string[] = [];
  const service = serviceWith(
    {
      listen: async ({ draining }) => {
        draining.addEventListener("abort", () => heard.push("draining"));
        return {
          address: "http://own",
          [Symbol.asyncDispose]: async () => void heard.push("closed"),
        };
      },
      loops: [
        {
          run: async (signal) => {
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
            heard.push("loop ended");
          },
        },
      ],
    },
    () => {},
  );
  await service.start();
  expect(service.address()).toBe("http://own");
  await service[Symbol.asyncDispose]();
  expect(heard).toEqual(["draining", "closed", "loop ended"]);
});
