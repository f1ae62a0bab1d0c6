import { createMemoryBus } from "@trainyard/bus/testing";
import { encodeEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { systemClock } from "@trainyard/kernel/system-clock";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { encodeRequest } from "../commands/commands.ts";
import { emptyMeta } from "../work/correlation.ts";
import type { Loop } from "../reactions/loop.ts";
import { Partition, type Term } from "./partition.ts";

const service = "experiments";
const notReady = "stopped: three events in a row could not be processed";

/** A partition that records which experiments were paused, and cannot process the named ones. */
class World {
  readonly memory = createMemoryLog();
  readonly log = this.memory.as(service);
  readonly hub = createMemoryBus();
  readonly noted: string[] = [];
  readonly failing = new Set<string>();
  /** How often the loop began, and whether it runs. */
  terms = 0;
  atWork = false;
  loops: readonly Loop[] = [{ run: (signal) => this.#work(signal) }];
  partition = this.#open();
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  #open(): Partition {
    const bus = this.hub.connect(service);
    const deps = { log: this.log, bus, clock: systemClock, logger: pino({ enabled: false }) };
    return new Partition(service, 0, deps, async () => this.#term());
  }

  #term(): Term {
    return {
      reactions: {
        handlers: {
          ExperimentPaused: async ({ id }) => {
            if (this.failing.has(id)) throw new Error(`what is ${id}?`);
            this.noted.push(id);
          },
        },
      },
      commands: {
        PauseExperiment: async () => ({
          position: 0,
          stream: "",
        }),
      },
      loops: this.loops,
    };
  }

  async #work(signal: AbortSignal): Promise<void> {
    this.terms += 1;
    this.atWork = true;
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    this.atWork = false;
  }

  async tell(...experiments: readonly string[]): Promise<void> {
    for (const id of experiments) {
      const stream = `experiment-${id}`;
      const expectedVersion = (await this.log.read(stream, 0, 100)).length;
      const events = [{ id: newEventId(), ...encodeEvent({ type: "ExperimentPaused", data: {} }) }];
      const writes = [{ stream, expectedVersion, events }];
      await this.log.append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
    }
  }

  start(): void {
    this.#stop = new AbortController();
    this.#running = this.partition.run("test", this.#stop.signal);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Returns the kind of the answer; "unavailable" if the command is not served. */
  async ask(name: "RetryParked" | "PauseExperiment", key = ""): Promise<string> {
    const body =
      name === "RetryParked"
        ? encodeRequest("common", "RetryParked", { consumer: service, key })
        : encodeRequest("experiments", "PauseExperiment", { experiment: "1" });
    const headers = { commitId: newEventId(), authid: "", traceparent: "", correlationid: "" };
    const bus = this.hub.connect("test");
    const answer = bus.request(service, name, { headers, body }, 5_000);
    return answer.then(
      ({ kind }) => kind,
      () => "unavailable",
    );
  }
}

let world: World;

beforeEach(() => {
  world = new World();
});

afterEach(async () => {
  await world.stop();
});

/** Three events in a row could not be processed, and the partition stopped itself; a fourth event waits. */
async function stopped(): Promise<void> {
  for (const id of ["1", "2", "3"]) world.failing.add(id);
  await world.tell("1", "2", "3", "4");
  world.start();
  await expect.poll(() => world.partition.unready()).toBe(notReady);
}

test("a partition that stopped itself serves RetryParked and nothing else", async () => {
  await stopped();
  await expect.poll(() => world.ask("RetryParked", "1")).toBe("rejected");
  expect(await world.ask("PauseExperiment")).toBe("unavailable");
  expect(world.atWork).toBe(false);
  expect(world.noted).toEqual([]);
  expect(world.partition.unready()).toBe(notReady);
});

test("a partition that stopped itself continues when a parked event is retried with success", async () => {
  await stopped();
  await expect.poll(() => world.ask("RetryParked", "2")).toBe("rejected");
  world.failing.clear();
  expect(await world.ask("RetryParked", "2")).toBe("ok");
  await expect.poll(() => world.noted).toEqual(["2", "4"]);
  expect(world.partition.unready()).toBeNull();
  expect(world.terms).toBe(2);
  await expect.poll(() => world.ask("PauseExperiment")).toBe("ok");
  expect(await world.ask("RetryParked", "1")).toBe("ok");
  expect(await world.ask("RetryParked", "3")).toBe("ok");
  expect(await world.log.parked(service)).toEqual([]);
});

test("parked events can be retried after the log lost its last events and the partition stopped itself", async () => {
  for (const id of ["1", "2", "3"]) world.failing.add(id);
  await world.tell("1", "2");
  world.start();
  await expect.poll(() => world.log.parked(service)).toHaveLength(2);
  const restore = world.memory.store.backup();
  await world.tell("3");
  await expect.poll(() => world.partition.unready()).toBe(notReady);
  restore();
  await world.tell("4");
  world.failing.clear();
  // The current term still knows the lost event; the next term does not.
  expect(await world.ask("RetryParked", "2")).toBe("unavailable");
  await expect.poll(() => world.ask("RetryParked", "2")).toBe("ok");
  // The first attempt was not committed.
  await expect.poll(() => world.noted).toEqual(["2", "2", "4"]);
});

test("a partition that stopped itself stays stopped when a key without parked events is retried", async () => {
  await stopped();
  await expect.poll(() => world.ask("RetryParked", "77")).toBe("ok");
  expect(world.partition.unready()).toBe(notReady);
  expect(world.noted).toEqual([]);
});

test("a partition that stopped itself still serves RetryParked after it has lost its lease and regained it", async () => {
  await stopped();
  const lease = `${service}/0`;
  await world.log.releaseLease(lease, "test#1");
  expect(await world.log.acquireLease(lease, "another", 50)).not.toBeNull();
  world.failing.clear();
  // A replica that has lost the lease cannot commit the retried work.
  expect(await world.ask("RetryParked", "1")).toBe("unavailable");
  expect(world.partition.unready()).toBe(notReady);
  await expect.poll(() => world.ask("RetryParked", "1")).toBe("ok");
  await expect.poll(() => world.noted).toEqual(["1", "1", "4"]);
});

test("a term with a failed loop ends only when its other loops have ended", async () => {
  const asked = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const failing: Loop = { run: async () => Promise.reject(new Error("it is broken")) };
  const slow: Loop = {
    run: async (signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      asked.resolve();
      await end.promise;
    },
  };
  world.loops = [slow, failing];
  world.start();
  await asked.promise;
  expect(await world.ask("PauseExperiment")).toBe("ok");
  expect(world.partition.active).toBe(true);
  end.resolve();
  await expect.poll(() => world.ask("PauseExperiment")).toBe("unavailable");
  expect(world.partition.active).toBe(false);
});
