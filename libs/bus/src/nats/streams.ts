/**
 * The JetStream streams. A server silently drops options that it does not know (2.9 does), so its answer is compared
 * with the request. Only options of 2.9 are used.
 */
import {
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from "@nats-io/jetstream";
import { Fault } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { busLimits } from "../limits.ts";
import type { Link } from "./link.ts";

export type StreamKey = "EVENTS" | "METRICS" | "LOGS";
export type StreamLimits = {
  readonly ageMs: number;
  readonly bytes: number;
  /** Replicas of a new stream in a NATS cluster; 1 for a single server. An existing stream keeps its own number. */
  readonly replicas: number;
};

const nameTakenByOther = 10058;
const nanos = 1_000_000;

const subjects: Readonly<Record<StreamKey, string>> = {
  EVENTS: "ty.event.>",
  METRICS: "ty.metric.>",
  LOGS: "ty.log.>",
};

export const defaultStreamLimits: Readonly<Record<StreamKey, StreamLimits>> = {
  EVENTS: { ageMs: busLimits.eventsAgeMs, bytes: busLimits.eventsBytes, replicas: 1 },
  METRICS: { ageMs: busLimits.liveAgeMs, bytes: busLimits.liveBytes, replicas: 1 },
  LOGS: { ageMs: busLimits.liveAgeMs, bytes: busLimits.liveBytes, replicas: 1 },
};

function streamConfig(
  key: StreamKey,
  limits: StreamLimits,
): Partial<StreamConfig> & { name: string } {
  const windowMs =
    key === "EVENTS" ? busLimits.eventsDuplicateWindowMs : busLimits.liveDuplicateWindowMs;
  return {
    name: key,
    subjects: [subjects[key]],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    max_age: limits.ageMs * nanos,
    max_bytes: limits.bytes,
    duplicate_window: Math.min(windowMs, limits.ageMs) * nanos,
    num_replicas: limits.replicas,
  };
}

/** Returns the options whose value in the server's answer differs from the request. */
export function droppedOptions(
  asked: Readonly<Record<string, unknown>>,
  answered: Readonly<Record<string, unknown>>,
): readonly string[] {
  return Object.keys(asked).filter(
    (key) => JSON.stringify(asked[key]) !== JSON.stringify(answered[key]),
  );
}

/** Creates the streams on first use, and again after every lost connection: the server may come back empty. */
export class Streams {
  readonly #link: Link;
  readonly #limits: Readonly<Record<StreamKey, StreamLimits>>;
  readonly #ensured = new Map<StreamKey, Promise<JetStreamManager>>();
  /** The monotonic time after which a failed setup of a live stream may be retried. */
  readonly #retryAtMs = new Map<StreamKey, number>();

  constructor(link: Link, limits: Partial<Record<StreamKey, StreamLimits>>) {
    this.#link = link;
    this.#limits = { ...defaultStreamLimits, ...limits };
    link.onConnection(() => {
      this.#ensured.clear();
      this.#retryAtMs.clear();
    });
  }

  /** Resolves with the stream manager once the stream exists as configured. */
  ensure(key: StreamKey): Promise<JetStreamManager> {
    const known = this.#ensured.get(key);
    if (known !== undefined) return known;
    const ensuring = this.#create(key);
    this.#ensured.set(key, ensuring);
    ensuring.catch(() => this.forget(key, ensuring));
    return ensuring;
  }

  /** Ensures a stream without a waiting caller; reports a problem, but not for every message. */
  ensureInBackground(key: StreamKey, onProblem: (problem: Fault) => void): void {
    if (!this.#link.up || systemClock.monotonicMs() < (this.#retryAtMs.get(key) ?? 0)) return;
    this.ensure(key).catch((problem: unknown) => {
      this.#retryAtMs.set(key, systemClock.monotonicMs() + busLimits.liveStreamRetryMs);
      onProblem(problem as Fault);
    });
  }

  forget(key: StreamKey, ensuring = this.#ensured.get(key)): void {
    if (this.#ensured.get(key) === ensuring) this.#ensured.delete(key);
  }

  async #create(key: StreamKey): Promise<JetStreamManager> {
    const connection = this.#link.connection();
    const asked = streamConfig(key, this.#limits[key]);
    try {
      const manager = await jetstreamManager(connection, {
        checkAPI: false,
        timeout: busLimits.streamApiMs,
      });
      const dropped = await createOrUpdate(manager, asked);
      if (dropped.length > 0) {
        throw new Fault(
          "stream_option_dropped",
          `the NATS server ignores ${dropped.join(", ")} of stream ${key}; it needs version 2.9 or newer`,
          { retry: "never", fields: { stream: key, dropped } },
        );
      }
      return manager;
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw new Fault("stream_unavailable", `stream ${key} cannot be set up`, {
        retry: "later",
        cause: error,
        fields: { stream: key, reason: error instanceof Error ? error.message : String(error) },
      });
    }
  }
}

/** Returns the options that the server dropped. An update leaves the number of replicas to the operator. */
async function createOrUpdate(
  manager: JetStreamManager,
  asked: Partial<StreamConfig> & { name: string },
): Promise<readonly string[]> {
  try {
    const { config } = await manager.streams.add(asked);
    return droppedOptions(asked, { ...config });
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== nameTakenByOther) throw error;
    const { num_replicas: _kept, ...changes } = asked;
    const { config } = await manager.streams.update(asked.name, changes);
    return droppedOptions(changes, { ...config });
  }
}
