/**
 * Keeps the cluster's fold level with the log. It takes events as they pass through the reaction loop, and reads up to
 * the head before a decision depends on the fold: all events that this service has committed must then be in it. Starts
 * from a saved fold if one exists.
 */
import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import { type EventLog, isFullPage, type StoredEvent } from "@trainyard/event-log";
import { idOf, streamName } from "@trainyard/kernel";
import {
  isOfThisLog,
  type KnownEvent,
  type Logger,
  LogRewound,
  ofAnotherHistory,
  runtimeLimits,
  withEvent,
} from "@trainyard/runtime";
import { Cluster } from "../core/cluster/cluster.ts";
import { readSnapshot, snapshotSchema, writeSnapshot } from "../core/cluster/snapshot.ts";
import type { RecordedEvent } from "../core/cluster/state.ts";
import { limits } from "../limits.ts";

/** The saved fold belongs to no single stream; its name is in the category that this service owns. */
export const snapshotStream = "pool-scheduler";
/** The position's column is a 32-bit integer; the text contains the exact position. */
const snapshotVersionMax = 0x7fffffff;

const othersRead: ReadonlySet<string> = new Set([
  "TrialCheckpointed",
  "ExperimentEnded",
  "ExperimentDeleted",
  "TaskEnded",
]);
const ownCategories = /^(?:allocation|agent|pool)-/;

/**
 * Whether the fold reads the event: every event of the scheduler, the checkpoints of runs, after which they may make
 * room, the end of an experiment, after which its place is forgotten, and its deletion or the end of a task, after
 * which the changes of people are, too.
 */
export function isOfFold({ stream, type }: Pick<StoredEvent, "stream" | "type">): boolean {
  return ownCategories.test(stream) || othersRead.has(shortNameOf(type));
}

export class ClusterFollower {
  readonly cluster: Cluster;
  /** Called with each event of the fold, before the cluster has changed by it; not with those of earlier terms. */
  recorded: (event: RecordedEvent, cluster: Cluster) => void = () => {};
  readonly #log: EventLog;
  readonly #logger: Logger;
  /** The id of the event at the cluster's position; empty if it was not read. */
  #eventId = "";
  #savedPosition: number;
  #savedMs = Number.NEGATIVE_INFINITY;

  private constructor(log: EventLog, logger: Logger, cluster: Cluster) {
    this.#log = log;
    this.#logger = logger;
    this.cluster = cluster;
    this.#savedPosition = cluster.position;
  }

  static async open(log: EventLog, logger: Logger): Promise<ClusterFollower> {
    const saved = await log.loadSnapshot(snapshotStream, snapshotSchema);
    const cluster = readSnapshot(saved?.body ?? null);
    const [event] = await log.readAll(Math.max(0, cluster.position - 1), 1);
    if (saved !== null && cluster.position > 0 && !isOfThisLog(saved.body, event)) {
      const detail = ofAnotherHistory("the cluster", cluster.position);
      logger.error({ position: cluster.position, detail }, "saved_fold_ignored");
      return ClusterFollower.#from(log, logger, new Cluster());
    }
    return ClusterFollower.#from(log, logger, cluster);
  }

  static async #from(log: EventLog, logger: Logger, cluster: Cluster): Promise<ClusterFollower> {
    const follower = new ClusterFollower(log, logger, cluster);
    await follower.catchUp();
    return follower;
  }

  /** Takes an event from the reaction loop if it is the next one. Returns true if it changed the fold. */
  observe(stored: StoredEvent): boolean {
    if (stored.position !== this.cluster.position + 1) return false;
    return this.#take(stored);
  }

  /** Reads up to the head. Throws LogRewound if the cluster was folded from another log. */
  async catchUp(): Promise<void> {
    for (;;) {
      const known = { position: this.cluster.position, id: this.#eventId };
      const page = await this.#log.readAll(
        Math.max(0, known.position - 1),
        runtimeLimits.pageEvents,
      );
      confirm(known, page[0]);
      for (const stored of page) {
        // A concurrent caller may have advanced the fold while this page was read.
        if (stored.position === this.cluster.position + 1) this.#take(stored);
      }
      if (!isFullPage(page, runtimeLimits.pageEvents)) return;
    }
  }

  /** Reads the request of an allocation, ended or not: the id of its first event. */
  readonly requestOf = async (allocation: string): Promise<string | null> => {
    const [queued] = await this.#log.read(streamName("allocation", allocation), 0, 1);
    return queued?.id ?? null;
  };

  #take(stored: StoredEvent): boolean {
    this.#eventId = stored.id;
    if (!isOfFold(stored)) {
      this.cluster.passed(stored);
      return false;
    }
    const event = recordedEventOf(stored);
    this.recorded(event, this.cluster);
    this.cluster.apply(event);
    return true;
  }

  /**
   * Saves the fold when it has advanced far enough since the last save. A failed save costs the next term a longer
   * tail.
   */
  async saveWhenDue(nowMs: number): Promise<void> {
    const ahead = this.cluster.position - this.#savedPosition;
    if (ahead < limits.snapshotPositions || nowMs - this.#savedMs < limits.snapshotMs) return;
    this.#savedMs = nowMs;
    this.#savedPosition = this.cluster.position;
    const version = Math.min(this.cluster.position, snapshotVersionMax);
    try {
      await this.#log.saveSnapshot(
        snapshotStream,
        version,
        snapshotSchema,
        withEvent(writeSnapshot(this.cluster), this.#eventId),
      );
    } catch (error) {
      this.#logger.warn({ err: error }, "cluster_not_saved");
    }
  }
}

function confirm(known: KnownEvent, found: StoredEvent | undefined): void {
  if (known.position === 0) return;
  const isThere = found?.position === known.position;
  if (isThere && (known.id === "" || known.id === found.id)) return;
  throw new LogRewound(known, isThere ? `has event ${found.id} there now` : "ends before that");
}

export function recordedEventOf(stored: StoredEvent): RecordedEvent {
  const { workspace, correlationid, authid, traceparent } = stored.meta;
  return {
    position: stored.position,
    timeMs: stored.timeMs,
    origin: { workspace, correlationid, authid, traceparent },
    id: idOf(stored.stream),
    eventId: stored.id,
    event: decodeEvent(stored),
  };
}
