/**
 * The log as one process sees it. At any call the process may die, before the call's effect or between effect and
 * answer. It may be paused for longer than its lease: all its calls wait, and then continue. Or it may get a fault,
 * even after a successful commit.
 */
import type {
  AppendRequest,
  AppendResult,
  CursorMove,
  CursorState,
  EventLog,
  Fence,
  Lease,
  LogAnchor,
  ParkedRow,
  SeenEvent,
  SomeEvents,
  SomeStreams,
  StoredEvent,
} from "@trainyard/event-log";
import { type Clock, Fault, pause } from "@trainyard/kernel";

export type Trouble =
  | { readonly kind: "death" }
  | { readonly kind: "stop"; readonly forMs: number }
  | { readonly kind: "fault" };

/** Called at each call, before and after its effect. Returns null for no trouble. */
export type Troubles = (method: keyof EventLog, moment: "before" | "after") => Trouble | null;

/** The refusal of a commit; null if the log accepts it. */
export type RefusalOf = (request: AppendRequest) => AppendResult | null;

export class MortalLog implements EventLog {
  readonly #log: EventLog;
  readonly #clock: Clock;
  readonly #troubles: Troubles;
  readonly #onDeath: () => void;
  readonly #refusalOf: RefusalOf;
  #dead = false;
  #stoppedUntilMs = 0;

  constructor(
    log: EventLog,
    clock: Clock,
    troubles: Troubles,
    onDeath: () => void,
    refusalOf: RefusalOf = () => null,
  ) {
    this.#refusalOf = refusalOf;
    this.#log = log;
    this.#clock = clock;
    this.#troubles = troubles;
    this.#onDeath = onDeath;
  }

  async #call<Result>(method: keyof EventLog, effect: () => Promise<Result>): Promise<Result> {
    await this.#meet(method, "before");
    const result = await effect();
    await this.#meet(method, "after");
    return result;
  }

  async #meet(method: keyof EventLog, moment: "before" | "after"): Promise<void> {
    // A dead process makes no calls and gets no answers.
    if (this.#dead) await never();
    const trouble = this.#troubles(method, moment);
    if (trouble?.kind === "death") {
      this.#dead = true;
      this.#onDeath();
      await never();
    }
    if (trouble?.kind === "stop") this.#stoppedUntilMs = this.#clock.monotonicMs() + trouble.forMs;
    await this.#untilAwake();
    if (trouble?.kind === "fault") {
      throw new Fault("log_away", "the log cannot be reached", { retry: "later" });
    }
  }

  async #untilAwake(): Promise<void> {
    const waitMs = this.#stoppedUntilMs - this.#clock.monotonicMs();
    if (waitMs <= 0) return;
    await pause(this.#clock, waitMs);
    if (this.#dead) await never();
  }

  append(request: AppendRequest): Promise<AppendResult> {
    return this.#call("append", async () => {
      return this.#refusalOf(request) ?? (await this.#log.append(request));
    });
  }

  read(stream: string, afterVersion: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.#call("read", () => this.#log.read(stream, afterVersion, limit));
  }

  lastVersion(stream: string): Promise<number> {
    return this.#call("lastVersion", () => this.#log.lastVersion(stream));
  }

  readAll(afterPosition: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.#call("readAll", () => this.#log.readAll(afterPosition, limit));
  }

  readSome(streams: SomeStreams, afterPosition: number, window: number): Promise<SomeEvents> {
    return this.#call("readSome", () => this.#log.readSome(streams, afterPosition, window));
  }

  positionsOf(streams: SomeStreams, afterPosition: number): Promise<readonly number[]> {
    return this.#call("positionsOf", () => this.#log.positionsOf(streams, afterPosition));
  }

  readAt(positions: readonly number[]): Promise<readonly StoredEvent[]> {
    return this.#call("readAt", () => this.#log.readAt(positions));
  }

  head(): Promise<number> {
    return this.#call("head", () => this.#log.head());
  }

  onAppended(callback: () => void): Promise<AsyncDisposable> {
    return this.#log.onAppended(callback);
  }

  cursor(consumer: string, partition: number): Promise<CursorState> {
    return this.#call("cursor", () => this.#log.cursor(consumer, partition));
  }

  moveCursor(move: CursorMove, fence?: Fence, seen?: SeenEvent): Promise<void> {
    return this.#call("moveCursor", () => this.#log.moveCursor(move, fence, seen));
  }

  parked(consumer?: string): Promise<readonly ParkedRow[]> {
    return this.#call("parked", () => this.#log.parked(consumer));
  }

  acquireLease(lease: string, owner: string, ttlMs: number): Promise<Lease | null> {
    return this.#call("acquireLease", () => this.#log.acquireLease(lease, owner, ttlMs));
  }

  releaseLease(lease: string, owner: string): Promise<void> {
    return this.#call("releaseLease", () => this.#log.releaseLease(lease, owner));
  }

  saveSnapshot(stream: string, version: number, schema: string, body: string): Promise<void> {
    return this.#call("saveSnapshot", () => this.#log.saveSnapshot(stream, version, schema, body));
  }

  loadSnapshot(stream: string, schema: string): ReturnType<EventLog["loadSnapshot"]> {
    return this.#call("loadSnapshot", () => this.#log.loadSnapshot(stream, schema));
  }

  dropSnapshots(stream: string): Promise<void> {
    return this.#call("dropSnapshots", () => this.#log.dropSnapshots(stream));
  }

  verify(afterPosition: number): ReturnType<EventLog["verify"]> {
    return this.#log.verify(afterPosition);
  }

  anchor(): ReturnType<EventLog["anchor"]> {
    return this.#call("anchor", () => this.#log.anchor());
  }

  checkAnchor(anchor: LogAnchor): ReturnType<EventLog["checkAnchor"]> {
    return this.#call("checkAnchor", () => this.#log.checkAnchor(anchor));
  }

  timeAheadMs(): Promise<number> {
    return this.#call("timeAheadMs", () => this.#log.timeAheadMs());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#log[Symbol.asyncDispose]();
  }
}

function never(): Promise<never> {
  return new Promise<never>(() => {});
}
