/** The registries of all services, made as they make them, without a server, a database or a cluster. */
import type { StoredEvent } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { systemClock } from "@trainyard/kernel/system-clock";
import { services } from "@trainyard/kernel/services";
import { createLogger, createRegistry, type Registry, viewGauges } from "@trainyard/runtime";
import { grpcTimes, httpTimes } from "../../../libs/runtime/src/telemetry/request-metrics.ts";
import { serviceMetrics } from "../../../libs/runtime/src/service/service-metrics.ts";
import { workMetrics } from "../../../libs/runtime/src/telemetry/work-metrics.ts";
import { hostMetrics } from "../../../services/agent/src/host-metrics.ts";
import { createTelemetry as ofAgent } from "../../../services/agent/src/telemetry.ts";
import { createTelemetry as ofGc } from "../../../services/checkpoint-gc/src/telemetry.ts";
import { createTelemetry as ofExperiments } from "../../../services/experiments/src/telemetry.ts";
import { subscriptionGauges } from "../../../services/feeds/src/subscription-metrics.ts";
import { createTelemetry as ofFeeds } from "../../../services/feeds/src/telemetry.ts";
import { createTelemetry as ofGateway } from "../../../services/gateway/src/telemetry.ts";
import { createTelemetry as ofLogs } from "../../../services/logs/src/telemetry.ts";
import { createTelemetry as ofMetrics } from "../../../services/metrics/src/telemetry.ts";
import { openCheckpointGauges } from "../../../services/registry/src/open-checkpoints.ts";
import { createTelemetry as ofRegistry } from "../../../services/registry/src/telemetry.ts";
import { createTelemetry as ofRelay } from "../../../services/relay/src/telemetry.ts";
import { createTelemetry as ofScheduler } from "../../../services/scheduler/src/telemetry.ts";
import { createTelemetry as ofSearcher } from "../../../services/searcher/src/telemetry.ts";

const logger = createLogger("example", "silent");
const log = createMemoryLog().as("ty_feeds");
const pool = { query: async () => ({ rows: [] }) } as never;

export type Counting = (event: StoredEvent) => void;
type Made = { readonly registry: Registry; readonly count?: Counting };

/** Returns the metrics of a service that are its own, and what counts the events of its log. */
function ownOf(service: string): Made {
  const registry = createRegistry(service);
  const counting = {
    "checkpoint-gc": () => ofGc(registry, logger).count,
    experiments: () => ofExperiments(registry).count,
    searcher: () => ofSearcher(registry).count,
  }[service];
  const others: Readonly<Record<string, () => unknown>> = {
    agent: () => {
      ofAgent(registry, logger);
      const undelivered = () => ({ checkpoints: 0, bytes: 0 });
      hostMetrics(registry, { folder: "/", undelivered, spools: () => ({ lines: 0, reports: 0 }) });
    },
    feeds: () => {
      ofFeeds(registry);
      subscriptionGauges(registry, { pool, log, clock: systemClock, sinks: [] });
    },
    gateway: () => {
      ofGateway(registry, () => 0);
      grpcTimes(registry);
    },
    logs: () => ofLogs(registry, logger),
    metrics: () => {
      ofMetrics(registry);
      httpTimes(registry);
      grpcTimes(registry);
    },
    registry: () => {
      ofRegistry(registry, logger);
      openCheckpointGauges(registry, pool, systemClock);
    },
    relay: () => ofRelay(registry, logger),
    scheduler: () => ofScheduler(registry, () => 0),
  };
  if (counting !== undefined) return { registry, count: counting() };
  others[service]?.();
  return { registry };
}

/** Returns the metrics that all services have. */
function commonOf(): Made {
  const registry = createRegistry("all");
  const watched = { links: () => [], lags: () => [], head: () => 0, parked: () => 0 };
  serviceMetrics(registry, { watched, isReady: () => true, holdsLease: () => true });
  const { appending } = workMetrics(registry);
  viewGauges(registry, () => []);
  const meta = {
    ...{ source: "", workspace: "", correlationid: "", causationid: "" },
    ...{ authid: "", traceparent: "" },
  };
  return {
    registry,
    count: ({ stream, id, type, body, commitId }) => {
      const writes = [{ stream, expectedVersion: 0, events: [{ id, type, body }] }];
      const result = { kind: "committed", position: 1, streams: [], repeated: false } as const;
      appending({ commitId, writes, guards: [], meta })(result);
    },
  };
}

export function registries(): ReadonlyMap<string, Made> {
  const own = [...services.map((one) => one.name), "agent"].map(
    (name) => [name, ownOf(name)] as const,
  );
  return new Map<string, Made>([["all", commonOf()], ...own]);
}

export type Metric = {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
};

/** Returns the metrics of a registry but those of the process, which `prom-client` makes. */
export async function metricsOf(registry: Registry): Promise<readonly Metric[]> {
  const types = new Map((await registry.getMetricsAsJSON()).map(({ name, type }) => [name, type]));
  const made = registry.getMetricsAsArray() as unknown as readonly (Omit<Metric, "labels"> & {
    readonly labelNames: readonly string[];
  })[];
  return made
    .filter(({ name }) => name.startsWith("trainyard_"))
    .map(({ name, labelNames, help }) => ({
      ...{ name, help, labels: labelNames },
      type: String(types.get(name)),
    }));
}
