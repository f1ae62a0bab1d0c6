/**
 * The only reader of recorded configurations, in events, commands and launches: services never read the struct
 * themselves. It loads neither the YAML parser nor the schema library.
 */
import type { NormalisedConfig } from "./config.ts";
import { readEarlyStopping } from "./early-stopping/policies.ts";
import { environment } from "./sections/environment.ts";
import { readSpace } from "./hyperparameters/read.ts";
import { isMapping, type JsonObject, mappingAt, valueAt, without, withRest } from "./json.ts";
import { readLogPolicies } from "./log-policies.ts";
import { readSearcher } from "./searcher/searcher.ts";
import { document, reproducibility } from "./sections/document.ts";
import { profiling } from "./sections/profiling.ts";
import { resources } from "./sections/resources.ts";
import { retentionPolicy } from "./sections/retention.ts";
import { checkpointStorage, tensorboardStorage } from "./sections/storage.ts";

export {
  type CheckpointStorage,
  type NormalisedConfig,
  tensorboardStorage,
} from "./config.ts";
export { durationSeconds } from "./duration.ts";
export {
  type BindMount,
  bytesOf,
  type ContainerSection,
  type DeviceKind,
  type DeviceMapping,
  type ProxyPort,
  proxyPortsOf,
  recordedContainer,
} from "./container.ts";
export type { LogAction, LogPolicy } from "./log-policies.ts";
export {
  type RequestedResources,
  requestedResources,
  withoutAgents,
} from "./requested-resources.ts";
export { type Continuation, continuedConfig, recordedLength } from "./searcher/continued.ts";
export { searcherFacts } from "./searcher/searcher.ts";
export { recordedSource, type WarmStartSource } from "./searcher/warm-start-source.ts";
export { defaultPool } from "./sections/resources.ts";
export { type NamedWebhooks, recordedWebhooks } from "./sections/webhooks.ts";
export { recordedPlace, type StoragePlace } from "./sections/storage.ts";
export {
  hasPage,
  keepsWork,
  requestedTaskResources,
  type TaskConfig,
  taskConfig,
  type TaskKind,
  taskKinds,
  taskName,
} from "./tasks/recorded.ts";
export type { VariablesByDevice } from "./sections/variables.ts";
export type { NotebookIdleType } from "./tasks/document.ts";
export { type RecordedTask, recordedTask } from "./tasks/recorded-task.ts";

/**
 * Reads a configuration recorded by any version; never fails: absent or malformed values get their defaults. A
 * normalised configuration is returned unchanged, including keys without effect.
 */
export function recordedConfig(struct: unknown): NormalisedConfig {
  const recorded = isMapping(struct) ? struct : {};
  const { data, debug, ...named } = document.read(recorded);
  const read = {
    ...named,
    hyperparameters: readSpace(mappingAt(recorded, "hyperparameters")),
    searcher: readSearcher(mappingAt(recorded, "searcher")),
    early_stopping: readEarlyStopping(valueAt(recorded, "early_stopping")),
    resources: resources.read(mappingAt(recorded, "resources")),
    log_policies: readLogPolicies(valueAt(recorded, "log_policies")),
    retention_policy: retentionPolicy.read(mappingAt(recorded, "retention_policy")),
    checkpoint_storage: checkpointStorage.read(mappingAt(recorded, "checkpoint_storage")),
    environment: environment.read(mappingAt(recorded, "environment")),
    reproducibility: reproducibility.read(mappingAt(recorded, "reproducibility")),
    data,
    debug,
    ...optional(recorded, "profiling", profiling.read),
    ...optional(recorded, "tensorboard_storage", tensorboardStorage.read),
  };
  return withRest(read, without(recorded, ["profiling", "tensorboard_storage"]));
}

/** Reads a section that stays absent if it was not given. */
function optional<Name extends string, Own>(
  recorded: JsonObject,
  name: Name,
  read: (section: JsonObject) => Own,
): { readonly [N in Name]?: Own } {
  const section = valueAt(recorded, name);
  return isMapping(section) ? ({ [name]: read(section) } as { [N in Name]: Own }) : {};
}
