/** Metrics of the agent's disk, and of what waits on it for the platform. */
import { type Measured, measuredGauge, type Registry } from "@trainyard/runtime";
import { freeBytes, sizeBytes } from "./shell/disk.ts";

export type HostFacts = {
  readonly folder: string;
  /** The checkpoints of ended runs that are not delivered. */
  readonly undelivered: () => { readonly checkpoints: number; readonly bytes: number };
  /** The bytes on disk of lines and reports that runs have here. */
  readonly spools: () => { readonly lines: number; readonly reports: number };
};

export function hostMetrics(registry: Registry, facts: HostFacts): void {
  const gauge = (name: string, help: string, measure: () => Measured, ...labelNames: string[]) =>
    measuredGauge(registry, { name: `trainyard_agent_${name}`, help, labelNames }, measure);
  const { folder, undelivered, spools } = facts;
  gauge("disk_free_bytes", "Free space for the agent on the disk of its folder", () => [
    [{}, freeBytes(folder)],
  ]);
  gauge("disk_size_bytes", "Size of this disk", () => [[{}, sizeBytes(folder)]]);
  gauge("checkpoints_waiting", "Checkpoints of ended runs that are not delivered", () => [
    [{}, undelivered().checkpoints],
  ]);
  gauge("checkpoints_waiting_bytes", "Bytes of these checkpoints", () => [
    [{}, undelivered().bytes],
  ]);
  const help = "Space that the lines and reports of runs take here, also delivered ones";
  gauge("spool_bytes", help, () => Object.entries(spools()).map(([of, n]) => [{ of }, n]), "of");
}
