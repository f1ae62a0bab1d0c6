/** Tests that the cached machine of a search equals a replay of its stream, however an append ends. */
import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import { type EventLog, newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { Fault, isFault, type Rejection, reject } from "@trainyard/kernel";
import { CommitRefused, Executor, FoldCache, serviceMeta, type Work } from "@trainyard/runtime";
import { Stage } from "@trainyard/runtime/stage";
import { type SearchCommand, type SearchEvent, SearchMachine } from "@trainyard/search";
import { exampleOf, methods } from "@trainyard/search/testing";
import { expect, test } from "vitest";
import { searches } from "./streams.ts";

const meta = serviceMeta("searcher");
const identity = () => ({ commitId: newEventId(), meta });

const report = (trial: number, step: number): SearchCommand => ({
  type: "RecordValidation",
  trial,
  run: 1,
  currentRun: 1,
  step,
  scalars: { loss: 1 / (trial + step) },
  measurement: `m-${trial}-${step}`,
  atMs: step,
});

/** Returns the commands of one commit: new reports, and the end of a trial if `ends`. */
const commandsOf = (round: number, ends: boolean): readonly SearchCommand[] => [
  report(1, 10 * round + 1),
  report(2, 10 * round + 1),
  report(2, 10 * round + 3),
  ...(ends
    ? [{ type: "RecordOutcome", trial: 1, outcome: TrialOutcome.COMPLETED, atMs: 40 } as const]
    : []),
  report(3, 10 * round + 1),
];

/** A log whose next append may fail in a chosen way. */
class FailingLog {
  readonly log: EventLog = createMemoryLog().as("searcher");
  readonly #append = this.log.append.bind(this.log);
  /** Replaces the next append; later ones are normal. */
  next: EventLog["append"] | null = null;

  constructor() {
    this.log.append = (request) => {
      const { next } = this;
      this.next = null;
      return (next ?? this.#append)(request);
    };
  }

  readonly refused: EventLog["append"] = () =>
    Promise.resolve({ kind: "refused", code: "too_large", detail: "more than the log takes" });

  readonly lostBefore: EventLog["append"] = () =>
    Promise.reject(new Fault("away", "the log is away", { retry: "later" }));

  readonly lostAfter: EventLog["append"] = async (request) => {
    await this.#append(request);
    throw new Fault("away", "the log went away", { retry: "later" });
  };

  /** Appends an event of another process before the append. */
  readonly overtaken: EventLog["append"] = async (request) => {
    const [write] = request.writes;
    if (write === undefined) throw new Error("something is written");
    const event: AnyEvent = { type: "SearchTimeNoted", data: { atMs: 3 } };
    const events = [{ id: newEventId(), ...encodeEvent(event) }];
    await this.#append({ ...identity(), writes: [{ ...write, events }], guards: [] });
    return this.#append(request);
  };
}

async function begun(method: string) {
  const failing = new FailingLog();
  const executor = new Executor(failing.log, new FoldCache(failing.log));
  const stage = new Stage("searcher", () => ({}), failing.log);
  await executor.execute(identity(), async (work) => {
    await work.decide(searches, "12", { type: "StartSearch", config: exampleOf(method), seed: 7 });
    if (method !== "custom") return;
    const value = { hyperparameters: { lr: 0.01, units: 8 }, stopAtTarget: false };
    const operations = ["a", "b", "c"].map((id) => ({
      id,
      operation: { case: "propose" as const, value },
    }));
    await work.decide(searches, "12", { type: "PostOperations", operations, restsOn: null });
  });
  const replayed = async () =>
    SearchMachine.of((await stage.stream("search-12")) as readonly SearchEvent[]);
  const live = async () => (await executor.cache.load(searches, "12")).state.committed().digest();
  return { failing, executor, replayed, live };
}

async function decideAll(work: Work, round = 0, ends = true): Promise<void> {
  for (const command of commandsOf(round, ends)) await work.decide(searches, "12", command);
}

test.each(methods)(
  "after a refused, overtaken or lost append a search by %s equals a replay of its stream",
  async (method) => {
    const { failing, executor, replayed, live } = await begun(method);
    const { refused, lostBefore, lostAfter, overtaken } = failing;
    for (const [round, ending] of [refused, lostBefore, lostAfter, overtaken].entries()) {
      failing.next = ending;
      const done = await executor
        .execute(identity(), (work) => decideAll(work, round, ending === overtaken))
        .catch((error: unknown) => error);
      const failed = done instanceof CommitRefused || isFault(done);
      expect([failed, failing.next]).toEqual([ending !== overtaken, null]);
      expect(await live()).toBe((await replayed()).digest());
    }
  },
);

test("a command that is rejected after a decision leaves the search as it is in the log", async () => {
  const { executor, replayed, live } = await begun("asha");
  const before = await live();
  const done = await executor.execute(identity(), async (work): Promise<Rejection> => {
    await decideAll(work);
    expect(await work.look(searches, "12", (search) => search.digest())).not.toBe(before);
    expect(await live()).toBe(before);
    return reject("no", "after all not");
  });
  expect(done).toMatchObject({ rejected: "no" });
  expect(await live()).toBe(before);
  expect((await replayed()).digest()).toBe(before);
});

test("interleaved works on one search see only the log and their earlier decisions", async () => {
  const { executor, replayed, live } = await begun("asha");
  const logged = await live();
  const committed = executor.execute(identity(), async (work) => {
    await decideAll(work);
    const mine = await work.look(searches, "12", (search) => search.digest());
    await executor.execute(identity(), async (other) => {
      expect(await other.look(searches, "12", (search) => search.digest())).toBe(logged);
      await other.decide(searches, "12", report(4, 9));
      return reject("no", "after all not");
    });
    expect(await work.look(searches, "12", (search) => search.digest())).toBe(mine);
  });
  await committed;
  expect(await live()).toBe((await replayed()).digest());
});
