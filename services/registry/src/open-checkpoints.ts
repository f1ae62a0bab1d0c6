/** Metrics of the checkpoints that are not complete. All replicas read the same table. */
import type { Clock } from "@trainyard/kernel";
import { type Measured, measuredGauge, type Registry } from "@trainyard/runtime";
import type { Pool } from "pg";
import { countUnfinished, type UnfinishedCount } from "./shell/unfinished-list.ts";

export function openCheckpointGauges(
  registry: Registry,
  pool: Pick<Pool, "query">,
  clock: Pick<Clock, "nowMs">,
): void {
  const gauge = (name: string, help: string, valueOf: (count: UnfinishedCount) => number): void =>
    measuredGauge(
      registry,
      { name: `trainyard_registry_${name}`, help, labelNames: ["state"] },
      async (): Promise<Measured> =>
        (await countUnfinished(pool)).map((one) => [{ state: one.state }, valueOf(one)]),
    );
  const states =
    "declared: being written, named: an agent still has to deliver it, run_over: to be given up, void: its files are to be deleted";
  gauge("open_checkpoints", `Checkpoints that are not complete. ${states}`, ({ count }) => count);
  gauge(
    "open_checkpoint_age_seconds",
    "How long the oldest of them has been in its state",
    (one) => Math.max(0, clock.nowMs() - one.sinceMs) / 1_000,
  );
}
