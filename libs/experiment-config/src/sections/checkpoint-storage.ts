/** Where checkpoints are kept, told apart by `type`, and how many of them outlive the experiment. */
import { z } from "zod";
import { defaults } from "../defaults.ts";
import { isMapping, type JsonObject, keyPath, valueAt } from "../json.ts";
import { kindOf, mergeKinds } from "../parts/kinds.ts";
import type { Check, Part } from "../parts/part.ts";
import { staysBelow } from "../parts/subfolder.ts";
import { anyText, byKind, count, keysOfAll, oneOfKinds, text } from "../parts/values.ts";

const keptKeys = {
  save_experiment_best: count,
  save_trial_best: count,
  save_trial_latest: count,
};
const absolutePath = z
  .string()
  .regex(/^\//, { error: "must be an absolute path, one that begins with /" });

/** Determined's rule: no path component may climb out of the prefix. */
const prefix = z.string().refine((value) => !value.split("/").includes(".."), {
  error: 'must not contain ".." as a folder',
});

/** Its content is recorded, and shown to all. */
const endpoint = z.string().regex(/^https?:\/\/[^\s/@?#]+(\/[^\s@?#]*)?$/, {
  error: "must be an address that begins with http:// or https://, without credentials",
});

function storageOf<Type extends string, Keys extends Readonly<Record<string, z.ZodType>>>(
  type: Type,
  keys: Keys,
) {
  return z
    .strictObject({ ...keptKeys, ...keys })
    .partial()
    .extend({ type: z.literal(type) });
}

export const storages = {
  directory: storageOf("directory", { container_path: absolutePath }),
  shared_fs: storageOf("shared_fs", {
    host_path: absolutePath,
    storage_path: text,
    container_path: anyText,
    checkpoint_path: anyText,
    tensorboard_path: anyText,
    propagation: anyText,
  }),
  s3: storageOf("s3", {
    bucket: text,
    access_key: anyText,
    secret_key: anyText,
    endpoint_url: endpoint,
    prefix,
  }),
  gcs: storageOf("gcs", { bucket: text, prefix }),
  azure: storageOf("azure", {
    container: text,
    connection_string: anyText,
    account_url: anyText,
    credential: anyText,
  }),
} as const;
type StorageType = keyof typeof storages;

/** The storages that checkpoints can be written to. */
export const runningStorages: readonly StorageType[] = ["directory", "shared_fs", "s3", "gcs"];

const typed = oneOfKinds("type", Object.values(storages), runningStorages);

/** One without a type is a part of one, which the cluster's default completes. */
const schema = byKind("type", typed, keysOfAll(Object.values(storages), keptKeys));

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

/** Determined's rule: a connection string has the credentials in it. */
const checkCredential: Check = (storage, path, note) => {
  if (!isMapping(storage)) return;
  const given = (key: string): boolean => typeof valueAt(storage, key) === "string";
  if (!given("connection_string") || !given("credential")) return;
  note(
    keyPath(path, "credential"),
    "must not be given beside connection_string, which has the credentials in it",
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
    required: { [needed]: `checkpoints of the type ${type} are stored there` },
    ...more,
    defaults: { ...defaults.checkpoint_storage, ...more.defaults },
  };
}

const rprivate: JsonObject = { propagation: "rprivate" };
const byType = {
  directory: partOf("directory", "container_path"),
  shared_fs: partOf("shared_fs", "host_path", { defaults: rprivate, check: checkFolder }),
  s3: partOf("s3", "bucket"),
  gcs: partOf("gcs", "bucket"),
  azure: partOf("azure", "container", {
    check: checkCredential,
    completeCheck: checkConnection,
  }),
};

export const checkpointStorage: Part = {
  schema,
  kind: kindOf("type", byType),
  defaults: defaults.checkpoint_storage,
  required: { type: "it says what kind of place checkpoints go to, for example directory" },
  merge: mergeKinds("type", Object.keys(keptKeys)),
};

export const storageParts: Readonly<Record<string, Part>> = {
  "checkpoint-storage": checkpointStorage,
  directory: byType.directory,
  "shared-fs": byType.shared_fs,
  s3: byType.s3,
  gcs: byType.gcs,
  azure: byType.azure,
};
