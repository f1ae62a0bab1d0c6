/**
 * The troubles of a world: dying processes, lost messages, and an unavailable bus. They are random and end after a
 * time.
 */
import type { Delivery, Fate, MemoryHub } from "@trainyard/bus/testing";
import type { ManualClock } from "@trainyard/testing";
import type { Chance } from "./chance.ts";
import type { Trouble, Troubles } from "./mortal-log.ts";

/** Troubles end after this time, so that all experiments can end. */
export const hardshipMs = 10 * 60_000;

/** Every third world has fewer troubles, to reach states that need long runs without deaths. */
export function drawTroubles(chance: Chance, clock: ManualClock): Troubles {
  const scale = chance.pick([1, 5, 25]);
  return (): Trouble | null => {
    if (clock.monotonicMs() > hardshipMs) return null;
    if (chance.happens(0.0008 * scale)) return { kind: "death" };
    if (chance.happens(0.0004 * scale))
      return { kind: "stop", forMs: chance.between(2_000, 12_000) };
    return chance.happens(0.001 * scale) ? { kind: "fault" } : null;
  };
}

export function fateOf({ kind }: Delivery, chance: Chance): Fate {
  if (chance.happens(0.05)) return { copies: 0 };
  const copies = kind !== "reply" && chance.happens(0.05) ? 2 : 1;
  return chance.happens(0.2) ? { copies, delayMs: chance.between(1, 800) } : { copies };
}

/** Takes the bus down for a while, and sometimes empties it. */
export function breakTheBus(hub: MemoryHub, clock: ManualClock, chance: Chance): void {
  if (clock.monotonicMs() > hardshipMs) return;
  clock.timer(chance.between(5_000, 120_000), () => {
    hub.disconnect();
    clock.timer(chance.between(100, 30_000), () => {
      if (chance.happens(0.3)) hub.wipe();
      hub.reconnect();
      breakTheBus(hub, clock, chance);
    });
  });
}

/** One outage of the bus, which may come back empty. */
export type Outage = { readonly afterMs: number; readonly forMs: number; readonly wipe: boolean };

export function breakOnce(
  hub: MemoryHub,
  clock: ManualClock,
  { afterMs, forMs, wipe }: Outage,
): void {
  clock.timer(afterMs, () => {
    hub.disconnect();
    clock.timer(forMs, () => {
      if (wipe) hub.wipe();
      hub.reconnect();
    });
  });
}

/** Agents are silent together for a while, in which their runs continue. */
export type Silence = {
  readonly agents: readonly string[];
  readonly afterMs: number;
  readonly forMs: number;
  /** Whether services die meanwhile. */
  readonly deaths: boolean;
};

/** The log goes back to an earlier state: a restored backup, or a failover with loss. */
export type Restore = { readonly backupMs: number; readonly restoreMs: number };

/**
 * Processes die between a backup and its restore, so that agents have seen terms that the log does not know, and while
 * agents are silent.
 */
export function dyingBetween(
  restores: readonly Restore[],
  silence: Silence | undefined,
  chance: Chance,
  clock: ManualClock,
): Troubles {
  return () => {
    const nowMs = clock.monotonicMs();
    const isLost = restores.some((one) => one.backupMs <= nowMs && nowMs < one.restoreMs);
    if (silence?.deaths === true) {
      const { afterMs, forMs } = silence;
      const isHalf = afterMs + forMs / 4 <= nowMs && nowMs < afterMs + forMs / 2;
      if (isHalf && chance.happens(0.02)) return { kind: "death" };
    }
    return isLost && chance.happens(0.02) ? { kind: "death" } : null;
  };
}

/** Draws one or more restores, one after the other; most lose seconds, some lose minutes. */
export function drawRestores(chance: Chance): readonly Restore[] {
  let afterMs = 0;
  return Array.from({ length: chance.between(1, 3) }, () => {
    const backupMs = afterMs + chance.between(500, 60_000);
    const restoreMs =
      backupMs + chance.pick([chance.between(10, 3_000), chance.between(3_000, 120_000)]);
    afterMs = restoreMs;
    return { backupMs, restoreMs };
  });
}
