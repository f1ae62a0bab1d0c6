/** Where checkpoints are kept, told apart by `type`, and how many of them outlive the experiment. */
import { z } from "zod";
import { kindSentence } from "../sentences.ts";
import { anyText, byKind, count, keysOfAll, text } from "./values.ts";

const kept = {
  save_experiment_best: count,
  save_trial_best: count,
  save_trial_latest: count,
};
export const keptKeys = Object.keys(kept);

const absolutePath = z
  .string()
  .regex(/^\//, { error: "must be an absolute path, one that begins with /" });

/** Determined's rule: no path component may climb out of the prefix. */
const prefix = z.string().refine((value) => !value.split("/").includes(".."), {
  error: 'must not contain ".." as a folder',
});

function storageOf<Type extends string, Keys extends Readonly<Record<string, z.ZodType>>>(
  type: Type,
  keys: Keys,
) {
  return z
    .strictObject({ ...kept, ...keys })
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
    endpoint_url: anyText,
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
export type StorageType = keyof typeof storages;

/** The storages that checkpoints can be written to. */
export const runningStorages: readonly StorageType[] = ["directory", "shared_fs"];

const typed = z.discriminatedUnion(
  "type",
  [storages.directory, storages.shared_fs, storages.s3, storages.gcs, storages.azure],
  { error: kindSentence("type", runningStorages) },
);

/** One without a type is a part of one, which the cluster's default completes. */
export const checkpointStorage = byKind("type", typed, keysOfAll(Object.values(storages), kept));
