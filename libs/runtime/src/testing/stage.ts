/**
 * A stage for tests of reactions: a log in memory, events that the test appends for other services, and the reactions
 * of one service, which run until the log's end. `afresh` simulates a crash: only the log and the cursor remain.
 */
import { createMemoryBus } from "@trainyard/bus/testing";
import { type AnyEvent, decodeEvent, encodeEvent } from "@trainyard/contracts";
import { type EventLog, newEventId, type StoredEvent } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { assert, isRejection, type Rejection } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { pino } from "pino";
import { FoldCache } from "../folds/fold-cache.ts";
import { EventFeed } from "../history/event-feed.ts";
import { type ReactionHandlers, ReactionLoop } from "../reactions/reactions.ts";
import { emptyMeta } from "../work/correlation.ts";
import { type Committed, Executor } from "../work/executor.ts";
import type { Work } from "../work/work.ts";

export class Stage {
  readonly log: EventLog;
  readonly #service: string;
  readonly #handlers: () => ReactionHandlers;
  readonly #bus = createMemoryBus().connect("stage");
  executor: Executor;

  constructor(service: string, handlers: (stage: Stage) => ReactionHandlers, log?: EventLog) {
    this.#service = service;
    this.#handlers = () => handlers(this);
    this.log = log ?? createMemoryLog().as(service);
    this.executor = new Executor(this.log, new FoldCache(this.log));
  }

  /** Appends events to a stream of any owner. No reaction runs before `settle`. */
  async tell(stream: string, ...events: readonly AnyEvent[]): Promise<void> {
    const expectedVersion = (await this.log.read(stream, 0, 1_000_000)).length;
    const result = await this.log.append({
      commitId: newEventId(),
      writes: [
        {
          stream,
          expectedVersion,
          events: events.map((event) => ({ id: newEventId(), ...encodeEvent(event) })),
        },
      ],
      guards: [],
      meta: { ...emptyMeta, source: "/trainyard/stage" },
    });
    assert(
      result.kind === "committed",
      `${stream} takes the test's events: ${JSON.stringify(result)}`,
    );
  }

  /** Decides like a command. */
  async command(handler: (work: Work) => Promise<Rejection | void>): Promise<Committed> {
    const result = await this.executor.execute(
      { commitId: newEventId(), meta: emptyMeta },
      handler,
    );
    assert(!isRejection(result), `the command is accepted: ${JSON.stringify(result)}`);
    return result;
  }

  /** Reacts until the end of the log. Throws if an event was parked. */
  async settle(): Promise<void> {
    const { log, executor } = this;
    const stop = new AbortController();
    const { position } = await log.cursor(this.#service, 0);
    if (position >= (await log.head())) return;
    await using feed = await EventFeed.open(log, this.#bus, systemClock);
    const stopAtHead = async ({ position: done }: StoredEvent): Promise<void> => {
      if (done >= (await log.head())) stop.abort();
    };
    const loop = new ReactionLoop(
      {
        service: this.#service,
        consumer: this.#service,
        partition: 0,
        handlers: this.#handlers(),
        after: (event) => void stopAtHead(event),
      },
      { log, feed, executor, clock: systemClock, logger: pino({ enabled: false }) },
    );
    await loop.run(stop.signal);
    // Loops park in partitions of their own.
    const parked = (await log.parked(this.#service)).filter(({ partition }) => partition === 0);
    assert(parked.length === 0, `nothing is parked: ${parked[0]?.reason}`);
  }

  /** Simulates the death of the process: all folds are lost. */
  afresh(): void {
    this.executor = new Executor(this.log, new FoldCache(this.log));
  }

  /** Returns the decoded events of a stream. */
  async stream(name: string): Promise<readonly AnyEvent[]> {
    return (await this.log.read(name, 0, 1_000_000)).map(decodeEvent);
  }

  /** Returns the event names of a stream. */
  async names(stream: string): Promise<readonly string[]> {
    return (await this.stream(stream)).map(({ type }) => type);
  }
}
