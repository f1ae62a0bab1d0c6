/**
 * Holds one lease for as long as it can. States: waiting (another holds it; asked for once a second), held (renewed once
 * a second), lost. It counts as lost as soon as it could not be renewed for its whole term by the monotonic clock, which
 * is before the database would give it to another: a paused process finds out before it decides, and the fence in every
 * append refuses it if it does not.
 */
import type { EventLog, Fence } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { pause } from "../clock.ts";
import { firstAbort } from "./first-abort.ts";
import { runtimeLimits } from "../limits.ts";
import type { Logger } from "../service/logging.ts";

export type HeldLease = { readonly fence: Fence; readonly lost: AbortSignal };

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

  /** Waits for the lease, runs `hold` while it is held, gives it up; again, until the signal aborts. */
  async run(signal: AbortSignal, hold: (held: HeldLease) => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      const epoch = await this.#acquire(signal);
      if (epoch === null) return;
      const lost = new AbortController();
      const stop = firstAbort(signal, lost.signal);
      const renewing = this.#renew(stop, epoch, lost);
      try {
        await hold({ fence: { lease: this.lease, epoch }, lost: stop });
      } finally {
        lost.abort();
        await renewing;
        // A lease that cannot be given up expires by itself.
        await this.#log.releaseLease(this.lease, this.#owner).catch(() => {});
      }
    }
  }

  async #acquire(signal: AbortSignal): Promise<number | null> {
    while (!signal.aborted) {
      try {
        const lease = await this.#log.acquireLease(
          this.lease,
          this.#owner,
          runtimeLimits.leaseTtlMs,
        );
        if (lease !== null) {
          this.#logger.info({ lease: this.lease, epoch: lease.epoch }, "lease_acquired");
          return lease.epoch;
        }
      } catch (error) {
        this.#logger.warn({ err: error, lease: this.lease }, "lease_unreachable");
      }
      await pause(this.#clock, runtimeLimits.leaseRenewMs / 2, signal);
    }
    return null;
  }

  async #renew(stop: AbortSignal, epoch: number, lost: AbortController): Promise<void> {
    let renewedMs = this.#clock.monotonicMs();
    while (!stop.aborted) {
      await pause(this.#clock, runtimeLimits.leaseRenewMs, stop);
      if (stop.aborted) return;
      const askedMs = this.#clock.monotonicMs();
      try {
        const lease = await this.#log.acquireLease(
          this.lease,
          this.#owner,
          runtimeLimits.leaseTtlMs,
        );
        if (lease === null || lease.epoch !== epoch) return this.#lose(lost, "taken");
        renewedMs = askedMs;
      } catch (error) {
        this.#logger.warn({ err: error, lease: this.lease }, "lease_renewal_failed");
      }
      if (this.#clock.monotonicMs() - renewedMs > runtimeLimits.leaseTtlMs) {
        return this.#lose(lost, "expired");
      }
    }
  }

  #lose(lost: AbortController, why: string): void {
    this.#logger.warn({ lease: this.lease, why }, "lease_lost");
    lost.abort();
  }
}
