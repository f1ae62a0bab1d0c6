import { assert, type Fault } from "@trainyard/kernel";
import pg from "pg";
import { logLimits } from "../limits.ts";
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
  VerifyFinding,
} from "../port.ts";
import { Appender } from "./appender.ts";
import {
  clientConfig,
  type ConnectionConfig,
  LazyConnection,
  withoutTimeLimits,
} from "./connection.ts";
import { AppendListener } from "./listener.ts";
import { Reader } from "./reads.ts";
import { checkAnchor, readAnchor, verifyChain } from "./verify.ts";

export type PostgresLogOptions = ConnectionConfig & {
  /** The number of read connections; appends and the listener have one each in addition. */
  readonly readConnections?: number;
  /** Called with the fault of each append that failed, and with null after one that the database carried out. */
  readonly onAppend?: (fault: Fault | null) => void;
  readonly appending?: AppendObserver;
};

/** Called with each append. What it returns is called with the result, or null if the append failed. */
type AppendObserver = (request: AppendRequest) => (result: AppendResult | null) => void;

/**
 * Opens the log in a PostgreSQL database that `migrateLog` has prepared. The connection's user is the role that owns
 * the appended categories. Connects on first use, and again after a lost connection.
 */
export function createPostgresLog(options: PostgresLogOptions): EventLog {
  return new PostgresLog(options);
}

class PostgresLog implements EventLog {
  readonly #pool: pg.Pool;
  readonly #connection: LazyConnection;
  readonly #patient: LazyConnection;
  readonly #appender: Appender;
  readonly #reader: Reader;
  readonly #listener: AppendListener;
  readonly #appending: AppendObserver | undefined;

  constructor({ readConnections, appending, onAppend, ...options }: PostgresLogOptions) {
    const config = clientConfig(options);
    this.#appending = appending;
    this.#pool = new pg.Pool({
      ...config,
      max: readConnections ?? logLimits.readConnectionsMax,
      idleTimeoutMillis: logLimits.idleConnectionMs,
    });
    // The pool replaces an idle connection that breaks; without this listener the error would stop the process.
    this.#pool.on("error", () => {});
    this.#connection = new LazyConnection({ ...config, pipeline: true });
    this.#appender = new Appender(this.#connection, onAppend);
    this.#patient = new LazyConnection(withoutTimeLimits(config));
    this.#reader = new Reader(this.#pool, this.#patient);
    this.#listener = new AppendListener(config, () => this.#reader.head());
  }

  append(request: AppendRequest): Promise<AppendResult> {
    const ended = this.#appending?.(request);
    const result = this.#appender.append(request);
    if (ended !== undefined)
      result.then(ended, () => {
        ended(null);
      });
    return result;
  }

  read(stream: string, afterVersion: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.#reader.read(stream, afterVersion, limit);
  }

  lastVersion(stream: string): Promise<number> {
    return this.#reader.lastVersion(stream);
  }

  readAll(afterPosition: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.#reader.readAll(afterPosition, limit);
  }

  positionsOf(streams: SomeStreams, afterPosition: number): Promise<readonly number[]> {
    return this.#reader.positionsOf(streams, afterPosition);
  }

  readAt(positions: readonly number[]): Promise<readonly StoredEvent[]> {
    return this.#reader.readAt(positions);
  }

  readSome(streams: SomeStreams, afterPosition: number, window: number): Promise<SomeEvents> {
    return this.#reader.readSome(streams, afterPosition, window);
  }

  head(): Promise<number> {
    return this.#reader.head();
  }

  onAppended(callback: () => void): Promise<AsyncDisposable> {
    return this.#listener.add(callback);
  }

  cursor(consumer: string, partition: number): Promise<CursorState> {
    return this.#reader.cursor(consumer, partition);
  }

  moveCursor(move: CursorMove, fence?: Fence, seen?: SeenEvent): Promise<void> {
    assert(move.park === undefined && move.unpark === undefined, "a lazy move parks nothing");
    const { consumer, partition, position, part } = move;
    return this.#reader.moveCursor([
      consumer,
      partition,
      position,
      part,
      fence?.lease ?? null,
      fence?.epoch ?? null,
      fence?.owner ?? null,
      seen?.position ?? null,
      seen?.id ?? null,
    ]);
  }

  parked(consumer?: string): Promise<readonly ParkedRow[]> {
    return this.#reader.parked(consumer);
  }

  async acquireLease(lease: string, owner: string, ttlMs: number): Promise<Lease | null> {
    assert(owner !== "", "a lease has an owner");
    const rows = await this.#reader.rows<[number, number, number | null]>(
      "acquire_lease",
      "select epoch, remaining_ms, idle_ms from log.acquire_lease($1, $2, $3)",
      [lease, owner, ttlMs],
      `acquiring the lease ${lease}`,
    );
    const [epoch, remainingMs, idleMs = null] = rows[0] ?? [];
    if (epoch === undefined || remainingMs === undefined) return null;
    return { lease, owner, epoch, remainingMs, idleMs };
  }

  async releaseLease(lease: string, owner: string): Promise<void> {
    const text = "select log.release_lease($1, $2)";
    await this.#reader.rows("release_lease", text, [lease, owner], `releasing the lease ${lease}`);
  }

  async saveSnapshot(stream: string, version: number, schema: string, body: string): Promise<void> {
    const text = "select log.save_snapshot($1, $2, $3, $4)";
    const values = [stream, version, schema, body];
    await this.#reader.rows("save_snapshot", text, values, `saving a snapshot of ${stream}`);
  }

  async loadSnapshot(
    stream: string,
    schema: string,
  ): Promise<{ readonly version: number; readonly body: string } | null> {
    const text = "select version, body from log.snapshots where stream = $1 and schema = $2";
    const doing = `loading a snapshot of ${stream}`;
    const values = [stream, schema];
    const rows = await this.#reader.rows<[number, string]>("load_snapshot", text, values, doing);
    const [version, body] = rows[0] ?? [];
    return version === undefined || body === undefined ? null : { version, body };
  }

  async dropSnapshots(stream: string): Promise<void> {
    const text = "select log.drop_snapshots($1)";
    await this.#reader.rows("drop_snapshots", text, [stream], `removing snapshots of ${stream}`);
  }

  verify(
    afterPosition: number,
    onProgress?: (position: number) => void,
  ): AsyncIterable<VerifyFinding> {
    return verifyChain(this.#reader, afterPosition, onProgress);
  }

  anchor(): Promise<LogAnchor> {
    return readAnchor(this.#reader);
  }

  checkAnchor(anchor: LogAnchor): Promise<VerifyFinding | null> {
    return checkAnchor(this.#reader, anchor);
  }

  timeAheadMs(): Promise<number> {
    return this.#reader.timeAheadMs();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#appender.close();
    await this.#listener.close();
    await this.#connection.close();
    await this.#patient.close();
    if (!this.#pool.ended) await this.#pool.end();
  }
}
