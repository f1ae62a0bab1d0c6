import type { Logger, Registry } from "@trainyard/runtime";
import { brakedKinds, storageFaults } from "@trainyard/blob";
import type { Fault } from "@trainyard/kernel";
import { Counter, Histogram } from "prom-client";

/** The registry's telemetry: one function per event. */
export type Telemetry = {
  declared(checkpoint: string): void;
  completed(checkpoint: string, files: number, bytes: number): void;
  refused(checkpoint: string, reason: string): void;
  /** A run found the checkpoint damaged, and the registry has found this number of problems. */
  damageReported(checkpoint: string, run: string, detail: string, problems: number): void;
  abandoned(checkpoint: string): void;
  cleared(checkpoint: string): void;
  notCleared(checkpoint: string, error: unknown): void;
  markerNotRenewed(root: string, error: unknown): void;
  /** A storage of this kind refused a request or did not answer, or is not the one that was expected at its place. */
  storageRefused(fault: Fault, kind: string): void;
  folderKept(checkpoint: string, why: string): void;
  versionRegistered(model: string, number: number, checkpoint: string): void;
  verified(bytes: number, seconds: number): void;
  contextServed(bytes: number): void;
  requestFailed(error: unknown): void;
};

export function createTelemetry(registry: Registry, logger: Logger): Telemetry {
  const checkpoints = new Counter({
    name: "trainyard_registry_checkpoints_total",
    help: "Checkpoints by outcome",
    labelNames: ["state"],
    registers: [registry],
  });
  const bytesVerified = new Counter({
    name: "trainyard_registry_verified_bytes_total",
    help: "Bytes of checkpoints that were hashed",
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "trainyard_registry_verification_seconds",
    help: "How long the files of a checkpoint took to verify",
    buckets: [0.01, 0.1, 1, 10, 100, 1000],
    registers: [registry],
  });
  const contexts = new Counter({
    name: "trainyard_registry_context_bytes_total",
    help: "Bytes of model code that agents were sent",
    registers: [registry],
  });
  return {
    ...storageEvents(registry, logger),
    declared(checkpoint) {
      checkpoints.inc({ state: "declared" });
      logger.debug({ checkpoint }, "checkpoint_declared");
    },
    completed(checkpoint, files, bytes) {
      checkpoints.inc({ state: "completed" });
      logger.info({ checkpoint, files, bytes }, "checkpoint_completed");
    },
    refused(checkpoint, reason) {
      checkpoints.inc({ state: "failed" });
      logger.warn({ checkpoint, reason }, "checkpoint_failed");
    },
    damageReported(checkpoint, run, detail, problems) {
      logger.warn({ checkpoint, run, detail, problems }, "checkpoint_damage_reported");
    },
    abandoned(checkpoint) {
      checkpoints.inc({ state: "abandoned" });
      logger.info({ checkpoint }, "checkpoint_abandoned");
    },
    cleared(checkpoint) {
      logger.info({ checkpoint }, "checkpoint_files_cleared");
    },
    notCleared(checkpoint, error) {
      logger.warn({ checkpoint, err: error }, "checkpoint_files_not_cleared");
    },
    folderKept(checkpoint, why) {
      logger.warn({ checkpoint, why }, "checkpoint_folder_kept");
    },
    versionRegistered(model, number, checkpoint) {
      logger.info({ model, number, checkpoint }, "model_version_registered");
    },
    verified(bytes, took) {
      bytesVerified.inc(bytes);
      seconds.observe(took);
    },
    contextServed(bytes) {
      contexts.inc(bytes);
    },
    requestFailed(error) {
      logger.error({ err: error }, "context_request_failed");
    },
  };
}

/** The faults of a place at which this host sees another storage, or none that it can read. */
const placeFaults = [
  "storage_not_known",
  "storage_not_marked",
  "storage_of_another_log",
  "storage_unreadable",
];

function storageEvents(
  registry: Registry,
  logger: Logger,
): Pick<Telemetry, "markerNotRenewed" | "storageRefused"> {
  const refusals = new Counter({
    name: "trainyard_registry_storage_failures_total",
    help: "Requests that a storage of checkpoints refused or did not answer, or that wait for another one at its place, by its kind and the fault",
    labelNames: ["storage", "fault"],
    registers: [registry],
  });
  // A counter that begins at 1 has no increase for Prometheus.
  for (const storage of brakedKinds)
    for (const fault of [...storageFaults, ...placeFaults]) refusals.inc({ storage, fault }, 0);
  return {
    markerNotRenewed(root, error) {
      logger.warn({ root, err: error }, "storage_marker_not_renewed");
    },
    storageRefused(fault, kind) {
      refusals.inc({ storage: kind, fault: fault.code });
      logger.warn({ err: fault }, "storage_refuses");
    },
  };
}
