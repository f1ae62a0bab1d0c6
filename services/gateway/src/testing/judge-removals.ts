/**
 * Creates and deletes experiments with the same code, with their steps in random order. fast-check draws the order of
 * reads, appends and file operations. Two replicas delete, and some of them die between two steps.
 */
import { createHash } from "node:crypto";
import type { BlobStore } from "@trainyard/blob";
import { createMemoryBlobStore } from "@trainyard/blob/testing";
import { type AnyEvent, decodeEvent, type EventOf } from "@trainyard/contracts";
import { type EventLog, newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { assert, type Clock, type Decider, idOf, isRejection, streamName } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import {
  type Aggregate,
  type Content,
  contentKey,
  Executor,
  emptyMeta,
  FoldCache,
  refusalOfContents,
} from "@trainyard/runtime";
import fc from "fast-check";
import { problemOf } from "../http/problem.ts";
import { contentState, deleteUnused } from "../spaces/content-removal.ts";
import { namingContents, storeContent } from "../spaces/contents.ts";
import { created } from "./example-events.ts";

const bytes = Buffer.from("packed code");
const code: Content = {
  folder: "contexts",
  digest: createHash("sha256").update(bytes).digest("hex"),
};

type Event = EventOf<"ExperimentCreated" | "ExperimentDeleted">;
const decider: Decider<boolean, Event, Event> = {
  initial: false,
  decide: (_state, event) => [event],
  evolve: () => true,
};
const experiments: Aggregate<boolean, Event, Event> = {
  name: "experiment",
  category: "experiment",
  decider,
};

/** A process whose steps take turns with those of all others, until it dies. */
class Process {
  readonly #turn: () => Promise<void>;
  readonly executor: Executor;
  readonly blobs: BlobStore;
  readonly log: EventLog;
  /** Timers fire at once, because a process waits only for the steps of others. */
  readonly clock: Clock = { ...systemClock, timer: (_ms, done) => systemClock.timer(0, done) };
  /** The number of steps until the process dies. */
  #stepsLeft: number;

  constructor(
    log: (turn: () => Promise<void>) => EventLog,
    blobs: BlobStore,
    turn: () => Promise<void>,
    stepsLeft = Number.POSITIVE_INFINITY,
  ) {
    this.#turn = turn;
    this.#stepsLeft = stepsLeft;
    const step = () => this.#step();
    this.log = log(step);
    this.executor = new Executor(this.log, new FoldCache(this.log));
    this.blobs = {
      put: async (...given) => (await step(), blobs.put(...given)),
      get: async (key) => (await step(), blobs.get(key)),
      stat: async (key) => (await step(), blobs.stat(key)),
      delete: async (key) => (await step(), blobs.delete(key)),
      signedUrl: async (key) => (await step(), blobs.signedUrl(key)),
    };
  }

  async #step(): Promise<void> {
    this.#stepsLeft -= 1;
    if (this.#stepsLeft < 0) throw new Died();
    await this.#turn();
  }
}

class Died extends Error {
  override readonly name = "Died";
}

async function create(process: Process, number: number): Promise<void> {
  await namingContents(async () => {
    const file = await storeContent(process, code, async function* () {
      yield bytes;
    });
    const commit = { commitId: newEventId(), meta: emptyMeta };
    const result = await process.executor.execute(commit, async (work) => {
      const refused = await refusalOfContents(work, file === null ? [] : [file]);
      if (refused !== null) return refused;
      await work.decide(experiments, String(number), created({ contextDigest: code.digest }));
      return undefined;
    });
    if (isRejection(result)) throw problemOf(result);
  });
}

async function usersIn(log: EventLog): Promise<ReadonlySet<string>> {
  const users = new Set<string>();
  for (const stored of await log.readAll(0, 1_000)) {
    const event: AnyEvent = decodeEvent(stored);
    if (event.type === "ExperimentCreated") users.add(idOf(stored.stream));
    if (event.type === "ExperimentDeleted") users.delete(idOf(stored.stream));
  }
  return users;
}

/** Deletes an experiment, and then its content as the gateway does when it reads the event. */
async function remove(process: Process, number: number): Promise<void> {
  const stream = streamName("experiment", String(number));
  const event: Event = { type: "ExperimentDeleted", data: {} };
  const commit = { commitId: newEventId(), meta: emptyMeta };
  const result = await process.executor.execute(commit, async (work) => {
    await work.decide(experiments, idOf(stream), event);
  });
  await purge(process, isRejection(result) ? 0 : result.position);
}

function purge(process: Process, position: number): Promise<void> {
  const isUsed = async () => (await usersIn(process.log)).size > 0;
  return deleteUnused({ ...process, isUsed }, code, position);
}

/**
 * Returns the smallest history that broke a promise: an experiment lost its code, or unused code was left. Null for
 * none.
 */
export async function judgeRemovals(count: number, seed?: number): Promise<string | null> {
  const property = fc.asyncProperty(
    fc.scheduler(),
    fc.array(
      fc.record({
        // The steps of others before this one starts, so that a create meets a deletion.
        after: fc.nat(40),
        deaths: fc.array(fc.nat(14), { maxLength: 2 }),
        stays: fc.boolean(),
      }),
      { minLength: 2, maxLength: 4 },
    ),
    async (scheduler, lives) => {
      const blobs = createMemoryBlobStore();
      const memory = createMemoryLog();
      let turns: () => Promise<void> = async () => {};
      const atOnce = async (): Promise<void> => {};
      const quiet = new Process(() => memory.as("quiet"), blobs, atOnce);
      const start = (stepsLeft?: number): Process => {
        let own: () => Promise<void> = async () => {};
        const taken = memory.as("gateway");
        const log = new Proxy(taken, {
          get: (target, name: keyof EventLog) => {
            const method = target[name] as (...given: unknown[]) => unknown;
            const isCall = name === "append" || name === "read" || name === "readAll";
            return isCall
              ? async (...given: unknown[]) => (await own(), method.apply(target, given))
              : method.bind(target);
          },
        });
        return new Process(
          (step) => ((own = step), log),
          blobs,
          () => turns(),
          stepsLeft,
        );
      };
      turns = () => scheduler.schedule(Promise.resolve());
      const life = async (number: number): Promise<void> => {
        const { after = 0, deaths = [], stays = true } = lives[number] ?? {};
        for (let turn = 0; turn < after; turn += 1) await turns();
        await create(start(), number + 1);
        if (stays) return;
        await remove(start(deaths[0]), number + 1).catch(ignoreDeath);
        // Another replica deletes the same content at any time.
        for (const stepsLeft of [deaths[1], undefined]) {
          await purge(start(stepsLeft), 0).catch(ignoreDeath);
        }
      };
      await scheduler.waitFor(Promise.all(lives.map((_life, number) => life(number))));
      const { deletions, deleting } = await contentState(quiet, code);
      const stored = await blobs.stat(contentKey({ ...code, deletions }));
      const isNamed = (await usersIn(quiet.log)).size > 0;
      assert(!deleting, "the last deletion was decided");
      assert(
        (stored !== null) === isNamed,
        `the code is stored: ${stored !== null}, named: ${isNamed}`,
      );
      for (let earlier = 0; earlier < deletions - 1; earlier += 1) {
        const left = await blobs.stat(contentKey({ ...code, deletions: earlier }));
        assert(left === null, `the file of deletion ${earlier} is gone`);
      }
    },
  );
  const parameters = { numRuns: count, ...(seed === undefined ? {} : { seed: seed | 0 }) };
  const details = await fc.check(property, parameters);
  return details.failed ? (fc.defaultReportMessage(details) ?? "it failed") : null;
}

function ignoreDeath(error: unknown): void {
  if (!(error instanceof Died)) throw error;
}
