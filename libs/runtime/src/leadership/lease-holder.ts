/**
 * Holds one lease for as long as possible. States: waiting (another process holds it; requested once a second), held
 * (renewed once a second), lost.
 *
 * The lease counts as lost when its whole term has passed, by the monotonic clock, since the last successful request
 * was sent. A timer ensures this even while an answer is outstanding. The database's term begins after the request, so
 * the loss is noticed before another process can get the lease. A paused process notices only when its timers run
 * again, but the fence in every append refuses its decisions.
 *
 * Each term requests the lease under a new owner name. Under the same name, the log would treat a term after an outage
 * as the previous one, with the same epoch, and agents and appends could not distinguish the two.
 */
import type { EventLog, Fence } from "@trainyard/event-log";
import { type Clock, pause } from "@trainyard/kernel";
import { firstAbort } from "../first-abort.ts";
import { runtimeLimits } from "../limits.ts";
import type { Logger } from "../logging.ts";

export type HeldLease = {
  readonly fence: Fence;
  /** The owner name of this term of this process. */
  readonly owner: string;
  /** The time for which no one had renewed the lease before, by the database's clock; null if nobody ever held it. */
  readonly idleMs: number | null;
  readonly lost: AbortSignal;
};

/** `askedMs` is the monotonic time of the request. */
type Acquired = Pick<HeldLease, "owner" | "idleMs"> & {
  readonly epoch: number;
  readonly askedMs: number;
};

export class LeaseHolder {
  readonly #log: EventLog;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly lease: string;
  readonly #owner: string;

  constructor(log: EventLog, clock: Clock, logger: Logger, lease: string, owner: string) {
    this.#log = log;
    this.#clock = clock;
    this.#logger = logger;
    this.lease = lease;
    this.#owner = owner;
  }

  /** Waits for the lease, runs `hold` while it is held, releases it, and repeats until the signal aborts. */
  async run(signal: AbortSignal, hold: (held: HeldLease) => Promise<void>): Promise<void> {
    for (let term = 1; !signal.aborted; term += 1) {
      const acquired = await this.#acquire(`${this.#owner}#${term}`, signal);
      if (acquired === null) return;
      const { owner, epoch, idleMs } = acquired;
      const lost = new AbortController();
      const stop = firstAbort(signal, lost.signal);
      const renewing = this.#renew(stop, acquired, lost);
      try {
        await hold({ fence: { lease: this.lease, epoch, owner }, owner, idleMs, lost: stop });
      } finally {
        lost.abort();
        await renewing;
        // A lease that cannot be released expires by itself.
        await this.#log.releaseLease(this.lease, owner).catch(() => {});
      }
    }
  }

  async #acquire(owner: string, signal: AbortSignal): Promise<Acquired | null> {
    let loggedMs = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      const askedMs = this.#clock.monotonicMs();
      try {
        const lease = await this.#log.acquireLease(this.lease, owner, runtimeLimits.leaseTtlMs);
        if (lease !== null) {
          this.#logger.warn({ lease: this.lease, epoch: lease.epoch }, "lease_acquired");
          return { owner, epoch: lease.epoch, idleMs: lease.idleMs, askedMs };
        }
      } catch (error) {
        if (askedMs - loggedMs >= runtimeLimits.outageLoggedMs) {
          loggedMs = askedMs;
          this.#logger.warn({ err: error, lease: this.lease }, "lease_unreachable");
        }
      }
      await pause(this.#clock, runtimeLimits.leaseRenewMs / 2, signal);
    }
    return null;
  }

  async #renew(
    stop: AbortSignal,
    { owner, epoch, askedMs }: Acquired,
    lost: AbortController,
  ): Promise<void> {
    let expiry = this.#expiry(askedMs, lost);
    let againMs = askedMs;
    while (!stop.aborted) {
      // The interval counts from request to request: a slow answer must not delay the next request.
      const dueMs = againMs + runtimeLimits.leaseRenewMs - this.#clock.monotonicMs();
      await pause(this.#clock, Math.max(0, dueMs), stop);
      if (stop.aborted) break;
      againMs = this.#clock.monotonicMs();
      try {
        const lease = await this.#log.acquireLease(this.lease, owner, runtimeLimits.leaseTtlMs);
        if (lease === null || lease.epoch !== epoch) {
          this.#lose(lost, "taken");
          break;
        }
        expiry[Symbol.dispose]();
        expiry = this.#expiry(againMs, lost);
      } catch (error) {
        this.#logger.warn({ err: error, lease: this.lease }, "lease_renewal_failed");
      }
    }
    expiry[Symbol.dispose]();
  }

  /** Ends the term when the lease that was requested at this time expires. */
  #expiry(askedMs: number, lost: AbortController): Disposable {
    const leftMs = askedMs + runtimeLimits.leaseTtlMs - this.#clock.monotonicMs();
    return this.#clock.timer(Math.max(0, leftMs), () => this.#lose(lost, "expired"));
  }

  #lose(lost: AbortController, why: string): void {
    // The answer to the last request no longer matters.
    if (lost.signal.aborted) return;
    this.#logger.warn({ lease: this.lease, why }, "lease_lost");
    lost.abort();
  }
}
