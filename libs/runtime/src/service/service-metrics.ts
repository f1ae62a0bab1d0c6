/** The metrics that every service and agent has, from what /readyz knows. */
import type { Registry } from "prom-client";
import type { Readiness } from "../readiness/readiness.ts";
import { version } from "./version.ts";
import { type GaugeSpec, type Measured, measuredGauge } from "../telemetry/measured-gauge.ts";

export type ServiceFacts = {
  readonly watched: Pick<Readiness, "links" | "lags" | "head" | "parked">;
  readonly isReady: () => boolean;
  /** Null for a process without a lease. */
  readonly holdsLease: () => boolean | null;
};

type Row = GaugeSpec & { readonly measure: (facts: ServiceFacts) => Measured };

const one = (value: number | null): Measured => (value === null ? [] : [[{}, value]]);
const flag = (value: boolean | null): Measured => one(value === null ? null : Number(value));

const table: readonly Row[] = [
  {
    name: "trainyard_build_info",
    help: "1, with the version of Trainyard and of Node",
    labelNames: ["version", "node"],
    measure: () => [[{ version, node: process.versions.node }, 1]],
  },
  {
    name: "trainyard_ready",
    help: "1 if /readyz answers 200, else 0",
    measure: ({ isReady }) => flag(isReady()),
  },
  {
    name: "trainyard_link_up",
    help: "1 if the server answers that the process needs, 0 after it was away for 10 s",
    labelNames: ["server"],
    measure: ({ watched }) => watched.links().map(({ link, isUp }) => [{ server: link }, +isUp]),
  },
  {
    name: "trainyard_lease_held",
    help: "1 if this replica decides, 0 if it is a standby",
    measure: ({ holdsLease }) => flag(holdsLease()),
  },
  {
    name: "trainyard_log_position",
    help: "Last position of the log, as of the latest answer of the database",
    measure: ({ watched }) => one(watched.head()),
  },
  {
    name: "trainyard_log_lag_events",
    help: "Events of the log that a reader of this replica has not read yet",
    labelNames: ["reader"],
    measure: ({ watched }) => watched.lags().map(({ reader, events }) => [{ reader }, events]),
  },
  {
    name: "trainyard_log_lag_seconds",
    help: "Time by which a reader of this replica is behind the log",
    labelNames: ["reader"],
    measure: ({ watched }) => watched.lags().map(({ reader, seconds }) => [{ reader }, seconds]),
  },
  {
    name: "trainyard_parked_events",
    help: "Events and actions that are parked, told by the replica that decides",
    measure: ({ watched }) => one(watched.parked()),
  },
];

export function serviceMetrics(registry: Registry, facts: ServiceFacts): void {
  for (const { measure, ...spec } of table) measuredGauge(registry, spec, () => measure(facts));
}
