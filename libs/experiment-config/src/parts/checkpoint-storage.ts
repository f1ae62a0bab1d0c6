/** What each storage's keys are by default, and which of them it cannot do without. */
import { isMapping, type JsonObject, valueAt } from "../json.ts";
import {
  checkpointStorage as storageSchema,
  keptKeys,
  storages,
} from "../schema/checkpoint-storage.ts";
import { kindOf, mergeKinds } from "./kinds.ts";
import type { Check, Part } from "./part.ts";
import { staysBelow } from "./subfolder.ts";

const kept = { save_experiment_best: 0, save_trial_best: 1, save_trial_latest: 1 };

/** Determined's rule: relative to host_path without leaving it, or absolute and below it. */
const checkFolder: Check = (storage, path, note) => {
  if (!isMapping(storage)) return;
  const host = valueAt(storage, "host_path");
  const folder = valueAt(storage, "storage_path");
  if (typeof host !== "string" || typeof folder !== "string" || staysBelow(folder, host)) return;
  note(
    `${path === "" ? "" : `${path}.`}storage_path`,
    `must be a relative folder that stays below host_path, or an absolute one below ${host}`,
  );
};

const checkConnection: Check = (storage, path, note) => {
  if (!isMapping(storage)) return;
  const [connection, url] = [
    valueAt(storage, "connection_string"),
    valueAt(storage, "account_url"),
  ];
  if ((connection === undefined) !== (url === undefined)) return;
  const at = path === "" ? "connection_string" : `${path}.connection_string`;
  note(at, "or account_url must be given, and not both: they say how to reach the container");
};

function partOf(type: keyof typeof storages, needed: string, more: Partial<Part> = {}): Part {
  return {
    schema: storages[type],
    required: { [needed]: `checkpoints of the type ${type} lie there` },
    ...more,
    defaults: { ...kept, ...more.defaults },
  };
}

const rprivate: JsonObject = { propagation: "rprivate" };
const byType = {
  directory: partOf("directory", "container_path"),
  shared_fs: partOf("shared_fs", "host_path", { defaults: rprivate, check: checkFolder }),
  s3: partOf("s3", "bucket"),
  gcs: partOf("gcs", "bucket"),
  azure: partOf("azure", "container", { completeCheck: checkConnection }),
};

export const checkpointStorage: Part = {
  schema: storageSchema,
  kind: kindOf("type", byType),
  defaults: kept,
  required: { type: "it says what kind of place checkpoints go to, for example directory" },
  merge: mergeKinds("type", keptKeys),
};

export const storageParts: Readonly<Record<string, Part>> = {
  "checkpoint-storage": checkpointStorage,
  directory: byType.directory,
  "shared-fs": byType.shared_fs,
  s3: byType.s3,
  gcs: byType.gcs,
  azure: byType.azure,
};
