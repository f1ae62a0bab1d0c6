/**
 * Retries the parked events of one key at an operator's request, in order, each until it is processed. The row of an
 * event is deleted by the commit that completes it. A fan-out that a fault has interrupted is retried as a whole: its
 * handler finds the results of earlier parts and continues behind them.
 */
import { decodeEvent, type EventName } from "@trainyard/contracts";
import {
  type CommitMeta,
  type EventLog,
  newEventId,
  type ParkedRow,
  type StoredEvent,
} from "@trainyard/event-log";
import { idOf } from "@trainyard/kernel";
import { endsTerm } from "../work/ends-term.ts";
import type { CommitIdentity, Executor } from "../work/executor.ts";
import type { Reaction } from "./reactions.ts";
import { reactionMeta, serviceMeta } from "../work/correlation.ts";
import type { Work } from "../work/work.ts";

export type AnyHandler = (event: Reaction<EventName>, work: Work) => Promise<void>;

export type RetriesSpec = {
  readonly service: string;
  readonly consumer: string;
  readonly partition: number;
  readonly handlerOf: (event: StoredEvent) => AnyHandler | undefined;
  /** The cursor's position in the log: a commit that unparks does not move it. */
  readonly durable: () => number;
  /** Called when the key has no parked events left. */
  readonly onDone: (key: string) => void;
};

type Asked = {
  readonly key: string;
  readonly resolve: (reason: string | null) => void;
  readonly reject: (error: unknown) => void;
};

export class ParkedRetries {
  readonly #spec: RetriesSpec;
  readonly #log: EventLog;
  readonly #executor: Executor;
  readonly #asked: Asked[] = [];

  constructor(spec: RetriesSpec, deps: { readonly log: EventLog; readonly executor: Executor }) {
    this.#spec = spec;
    this.#log = deps.log;
    this.#executor = deps.executor;
  }

  /** Requests a retry. Resolves with the reason with which the first of the key's events failed again, or null. */
  ask(key: string): Promise<string | null> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ key, resolve, reject });
    });
  }

  /**
   * Serves all requests; returns whether an event succeeded and whether one failed. Throws errors that end the term.
   */
  async serve(): Promise<{ readonly mended: boolean; readonly failed: boolean }> {
    let mended = false;
    let anyFailed = false;
    for (let asked = this.#asked.shift(); asked !== undefined; asked = this.#asked.shift()) {
      try {
        const { failed, driven } = await this.#retry(asked.key);
        mended ||= failed === null && driven > 0;
        anyFailed ||= failed !== null;
        asked.resolve(failed);
      } catch (error) {
        anyFailed = true;
        asked.reject(error);
        if (endsTerm(error)) throw error;
      }
    }
    return { mended, failed: anyFailed };
  }

  async #retry(key: string): Promise<{ readonly failed: string | null; readonly driven: number }> {
    const rows = await this.#rowsOf(key);
    for (const { position } of rows) {
      const [event] = await this.#log.readAll(position - 1, 1);
      const handler = event === undefined ? undefined : this.#spec.handlerOf(event);
      try {
        if (event !== undefined && handler !== undefined) await this.#driveAgain(event, handler);
        else await this.#unpark(position);
      } catch (error) {
        if (endsTerm(error)) throw error;
        return { failed: reasonOf(error), driven: 0 };
      }
    }
    this.#spec.onDone(key);
    return { failed: null, driven: rows.length };
  }

  async #rowsOf(key: string): Promise<readonly ParkedRow[]> {
    const { consumer, partition } = this.#spec;
    return (await this.#log.parked(consumer))
      .filter((row) => row.partition === partition && row.key === key)
      .sort((a, b) => a.position - b.position);
  }

  async #driveAgain(event: StoredEvent, handler: AnyHandler): Promise<void> {
    const { data } = decodeEvent(event);
    const reaction = { stored: event, data, id: idOf(event.stream) } as Reaction<EventName>;
    const meta = reactionMeta(this.#spec.service, event);
    const committed = await this.#executor.react(
      () => identityOf(meta),
      (part) => (part === "done" ? this.#cursor(event.position) : undefined),
      (work) => handler(reaction, work),
      0,
    );
    if (committed === null) await this.#unpark(event.position);
  }

  async #unpark(position: number): Promise<void> {
    const meta = serviceMeta(this.#spec.service);
    await this.#executor.moveCursor(identityOf(meta), this.#cursor(position));
  }

  #cursor(unparked: number) {
    const { consumer, partition, durable } = this.#spec;
    return { consumer, partition, position: durable(), part: 0, unpark: [unparked] };
  }
}

/**
 * A retry gets a new commit id: the commit before it, which may have been written, must not count as its first attempt.
 */
function identityOf(meta: CommitMeta): CommitIdentity {
  return { commitId: newEventId(), meta };
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
