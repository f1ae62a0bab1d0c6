/**
 * The place of checkpoints and TensorBoard files, selected by `type`, and the number of checkpoints that outlive the
 * experiment.
 */
import { z } from "zod";
import { defaults } from "../defaults.ts";
import { isMapping, type JsonObject, keyPath, valueAt } from "../json.ts";
import { kindOf, mergeKinds } from "../parts/kinds.ts";
import type { Check, Part } from "../parts/part.ts";
import { staysBelow } from "../parts/subfolder.ts";
import { anyText, byKind, count, keysOfAll, oneOfKinds, text } from "../parts/values.ts";
import { runningStorages } from "../storage-places.ts";

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

/** The address is recorded and visible to all users, so it must not contain credentials. */
const endpoint = z.string().regex(/^https?:\/\/[^\s/@?#]+(\/[^\s@?#]*)?$/, {
  error: "must be an address that begins with http:// or https://, without credentials",
});

type Keys = Readonly<Record<string, z.ZodType>>;

/** Returns the schema of each kind of storage, with its specific keys and the `common` ones. */
function storagesWith(common: Keys) {
  const storageOf = <Type extends string>(type: Type, keys: Keys) =>
    z
      .strictObject({ ...common, ...keys })
      .partial()
      .extend({ type: z.literal(type) });
  return {
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
  };
}

export const storages = storagesWith(keptKeys);
type StorageType = keyof typeof storages;

/** A storage without a type is completed by the cluster's default or an override. */
function schemaOf(kinds: typeof storages, common: Keys) {
  const typed = oneOfKinds("type", Object.values(kinds), runningStorages);
  return byKind("type", typed, keysOfAll(Object.values(kinds), common));
}

/** Determined's rule: the folder must be relative to host_path without leaving it, or absolute and below it. */
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

/** Determined's rule: a connection string contains the credentials, so a separate credential must be absent. */
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

/** `what` names the stored files in messages. */
function byTypeOf(kinds: typeof storages, what: string, common: JsonObject) {
  const partOf = (type: StorageType, needed: string, more: Partial<Part> = {}): Part => ({
    schema: kinds[type],
    required: { [needed]: `${what} of the type ${type} are stored there` },
    ...more,
    defaults: { ...common, ...more.defaults },
  });
  return {
    directory: partOf("directory", "container_path"),
    shared_fs: partOf("shared_fs", "host_path", { defaults: rprivate, check: checkFolder }),
    s3: partOf("s3", "bucket"),
    gcs: partOf("gcs", "bucket"),
    azure: partOf("azure", "container", {
      check: checkCredential,
      completeCheck: checkConnection,
    }),
  };
}

const rprivate: JsonObject = { propagation: "rprivate" };
const byType = byTypeOf(storages, "checkpoints", defaults.checkpoint_storage);

export const checkpointStorage: Part = {
  schema: schemaOf(storages, keptKeys),
  kind: kindOf("type", byType),
  defaults: defaults.checkpoint_storage,
  required: { type: "it says what kind of place checkpoints go to, for example directory" },
  merge: mergeKinds("type", Object.keys(keptKeys)),
};

const tensorboardStorages = storagesWith({});

/** Without this section TensorBoard files go to the checkpoint storage. */
export const tensorboardStorage: Part = {
  schema: schemaOf(tensorboardStorages, {}),
  kind: kindOf("type", byTypeOf(tensorboardStorages, "TensorBoard files", {})),
  required: { type: "it says what kind of place TensorBoard files go to, for example directory" },
  merge: mergeKinds("type", []),
};

export const storageParts: Readonly<Record<string, Part>> = {
  "checkpoint-storage": checkpointStorage,
  "tensorboard-storage": tensorboardStorage,
  directory: byType.directory,
  "shared-fs": byType.shared_fs,
  s3: byType.s3,
  gcs: byType.gcs,
  azure: byType.azure,
};
