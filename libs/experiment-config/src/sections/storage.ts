/**
 * The place of checkpoints and TensorBoard files, selected by `type`, and the number of checkpoints that outlive the
 * experiment. libs/blob has a table of storages with the same keys.
 */
import {
  isMapping,
  type JsonObject,
  keyPath,
  numbersOr,
  only,
  textAt,
  valueAt,
  withRest,
} from "../json.ts";
import { kindOf, mergeKinds } from "../parts/kinds.ts";
import type { Check, Part } from "../parts/part.ts";
import { staysBelow } from "../parts/subfolder.ts";
import type { Shape, Values } from "../parts/values.ts";

type StorageKind = {
  readonly keys: (values: Values) => Shape;
  /** The key that the place can't do without. */
  readonly needed: string;
  /** The keys that name the place of the files; absent for a kind to which nothing is written. */
  readonly place?: readonly string[];
} & Pick<Part, "check" | "completeCheck" | "defaults">;

const absolutePath = ({ z }: Values) =>
  z.string().regex(/^\//, { error: "must be an absolute path, one that begins with /" });

/** Determined's rule: no path component may climb out of the prefix. */
const prefix = ({ z }: Values) =>
  z
    .string()
    .refine((value) => !value.split("/").includes(".."), {
      error: 'must not contain ".." as a folder',
    })
    .describe("The first part of each object's name.");

const bucket = ({ text }: Values) => text.describe("The bucket of the object store.");

/** The address is recorded and visible to all users, so it must not contain credentials. */
const endpoint = ({ z }: Values) =>
  z
    .string()
    .regex(/^https?:\/\/[^\s/@?#]+(\/[^\s@?#]*)?$/, {
      error: "must be an address that begins with http:// or https://, without credentials",
    })
    .describe("The address of an object store that speaks the protocol of S3.");

/** Determined's rule: the folder must be relative to host_path without leaving it, or absolute and below it. */
const checkFolder: Check = (storage, path, note) => {
  if (!isMapping(storage)) return;
  const host = valueAt(storage, "host_path");
  const folder = valueAt(storage, "storage_path");
  if (typeof host !== "string" || typeof folder !== "string" || staysBelow(folder, host)) return;
  note(
    keyPath(path, "storage_path"),
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
  note(
    keyPath(path, "connection_string"),
    "or account_url must be given, and not both: they say how to reach the container",
  );
};

const storageKinds = {
  directory: {
    keys: (values) => ({
      container_path: absolutePath(values).describe(
        "The folder of the files, for the type directory.",
      ),
    }),
    needed: "container_path",
    place: ["container_path"],
  },
  shared_fs: {
    keys: (values) => ({
      host_path: absolutePath(values).describe("The shared folder, for the type shared_fs."),
      storage_path: values.text.describe("A folder within host_path."),
      container_path: values.anyText.describe("A second path of host_path in containers."),
      checkpoint_path: values.anyText,
      tensorboard_path: values.anyText,
      propagation: values.anyText,
    }),
    needed: "host_path",
    place: ["host_path", "storage_path"],
    defaults: { propagation: "rprivate" },
    check: checkFolder,
  },
  s3: {
    keys: (values) => ({
      bucket: bucket(values),
      prefix: prefix(values),
      endpoint_url: endpoint(values),
      access_key: values.anyText,
      secret_key: values.anyText,
    }),
    needed: "bucket",
    place: ["bucket", "prefix", "endpoint_url"],
  },
  gcs: {
    keys: (values) => ({ bucket: bucket(values), prefix: prefix(values) }),
    needed: "bucket",
    place: ["bucket", "prefix"],
  },
  azure: {
    keys: ({ anyText, text }) => ({
      container: text,
      connection_string: anyText,
      account_url: anyText,
      credential: anyText,
    }),
    needed: "container",
    check: checkCredential,
    completeCheck: checkConnection,
  },
} as const satisfies Readonly<Record<string, StorageKind>>;
const kinds: readonly (readonly [string, StorageKind])[] = Object.entries(storageKinds);

/** The kinds of storage that files can be written to. */
export const runningStorages = kinds.flatMap(([type, { place }]) =>
  place === undefined ? [] : [type],
);

/** Returns whether the type is a kind of storage to which nothing is written. */
export const isUnusableStorage = (type: string): boolean =>
  Object.hasOwn(storageKinds, type) && !runningStorages.includes(type);

type DirectoryPlace = { readonly type: "directory"; readonly container_path: string };
type SharedFsPlace = {
  readonly type: "shared_fs";
  readonly host_path: string;
  /** The path below host_path; empty for host_path itself. */
  readonly storage_path: string;
};
/** An object store, or an unknown kind of storage, as it was recorded. */
type OtherPlace = { readonly type: string };
export type StoragePlace = DirectoryPlace | SharedFsPlace | OtherPlace;

/** Without a path the place is the reading host's default directory: an empty path. */
function readPlace(storage: JsonObject): StoragePlace {
  const type = textAt(storage, "type", "directory");
  switch (type) {
    case "directory":
      return { type, container_path: textAt(storage, "container_path") };
    case "shared_fs": {
      const host_path = textAt(storage, "host_path");
      const storage_path = textAt(storage, "storage_path");
      return { type, host_path, storage_path };
    }
    default:
      // An unknown kind stays as it is: none of its files is searched in a directory.
      return { type };
  }
}

/** Returns a recorded storage's kind, and the keys that name the place of its files. */
export function recordedPlace(storage: StoragePlace): {
  readonly type: string;
  readonly place: Readonly<Record<string, string>>;
} {
  const { type } = storage;
  const keys = kinds.find(([kind]) => kind === type)?.[1].place ?? [];
  const texts = Object.entries(only(storage as JsonObject, keys)).flatMap(([key, value]) =>
    typeof value === "string" ? [[key, value] as const] : [],
  );
  return { type, place: Object.fromEntries(texts) };
}

/** The keys that every kind has. */
type CommonKeys = { readonly keys: (values: Values) => Shape; readonly defaults: JsonObject };

/** `what` names the stored files in messages. */
function storagePart(values: Values, what: string, common: CommonKeys, description: string) {
  const { byKind, keysOfAll, oneOfKinds, z } = values;
  const shared = common.keys(values);
  const type = `The kind of storage: ${runningStorages.slice(0, -1).join(", ")} or ${runningStorages.at(-1)}.`;
  const schemaOf = (kind: string, keys: StorageKind["keys"]) =>
    z
      .strictObject({ ...shared, ...keys(values) })
      .partial()
      .extend({ type: z.literal(kind).describe(type) });
  const parts = kinds.map(([kind, row]) => {
    const { keys, needed, place: _place, ...rules } = row;
    return {
      kind,
      ...rules,
      schema: schemaOf(kind, keys),
      required: { [needed]: `${what} of the type ${kind} are stored there` },
      defaults: { ...common.defaults, ...rules.defaults },
    };
  });
  const schemas = parts.map(({ schema }) => schema);
  const byType = Object.fromEntries(parts.map(({ kind, ...part }) => [kind, part]));
  const part: Part = {
    // A storage without a type is completed by the cluster's default or an override.
    schema: byKind(
      "type",
      oneOfKinds("type", schemas, runningStorages),
      keysOfAll(schemas, shared),
    ).describe(description),
    kind: kindOf("type", byType),
    defaults: common.defaults,
    required: { type: `it says what kind of place ${what} go to, for example directory` },
    merge: mergeKinds("type", Object.keys(shared)),
  };
  return { part, byType };
}

/** The numbers of checkpoints that outlive the experiment, as in Determined. */
const kept = { save_experiment_best: 0, save_trial_best: 1, save_trial_latest: 1 };

export const checkpointStorage = {
  parts: (values: Values) =>
    storagePart(
      values,
      "checkpoints",
      {
        keys: ({ count }) => ({
          save_experiment_best: count.describe(
            `How many of the experiment's best checkpoints are kept. Default ${kept.save_experiment_best}.`,
          ),
          save_trial_best: count.describe(
            `How many of each trial's best checkpoints are kept. Default ${kept.save_trial_best}.`,
          ),
          save_trial_latest: count.describe(
            `How many of each trial's latest checkpoints are kept. Default ${kept.save_trial_latest}.`,
          ),
        }),
        defaults: kept,
      },
      "Where checkpoints are stored, and how many are kept.",
    ),
  asWritten: {
    container_path:
      "is mounted beside host_path on agents that run containers; the checkpoints have one path, that of the host",
    checkpoint_path:
      "has no effect: storage_path says in which folder of host_path checkpoints are",
    tensorboard_path:
      "has no effect, as in Determined: the section tensorboard_storage says where TensorBoard files go",
    propagation:
      "is that of container_path on agents that run containers; a process on its host does not need it",
  },
  read: (storage: JsonObject) =>
    withRest({ ...readPlace(storage), ...numbersOr(storage, kept) }, storage),
};

const NO_MOUNT = "has no effect: TensorBoard files have one path, that of the host";

/** Without this section TensorBoard files go to the checkpoint storage. */
export const tensorboardStorage = {
  parts: (values: Values) =>
    storagePart(
      values,
      "TensorBoard files",
      { keys: () => ({}), defaults: {} },
      "Where TensorBoard files are stored. Default: the storage of the checkpoints.",
    ),
  asWritten: {
    container_path: NO_MOUNT,
    checkpoint_path: "has no effect: TensorBoard files alone go there",
    tensorboard_path:
      "has no effect: storage_path says in which folder of host_path TensorBoard files are",
    propagation: NO_MOUNT,
  },
  read: (storage: JsonObject) => withRest(readPlace(storage), storage),
};

/** Parts by the name of Determined's schema. */
export function storageParts(values: Values): Readonly<Record<string, Part>> {
  const { part, byType } = checkpointStorage.parts(values);
  const { shared_fs, ...others } = byType;
  return {
    "checkpoint-storage": part,
    "tensorboard-storage": tensorboardStorage.parts(values).part,
    ...others,
    ...(shared_fs && { "shared-fs": shared_fs }),
  };
}
