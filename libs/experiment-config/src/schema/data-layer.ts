/** Determined's data layer, which its last releases ignore: still read, so that its configurations are. */
import { z } from "zod";
import { kindSentence } from "../sentences.ts";
import { anyText, entry, text } from "./values.ts";

const absolute = z
  .string()
  .regex(/^\//, { error: "must be an absolute path, one that begins with /" });
const cache = { local_cache_host_path: absolute, local_cache_container_path: absolute };

const sharedFs = entry(
  { type: z.literal("shared_fs") },
  { host_storage_path: absolute, container_storage_path: absolute },
);
const s3 = entry(
  { type: z.literal("s3"), bucket: text, bucket_directory_path: text },
  { ...cache, access_key: anyText, secret_key: anyText, endpoint_url: anyText },
);
const gcs = entry(
  { type: z.literal("gcs"), bucket: text, bucket_directory_path: text },
  { ...cache },
);

export const dataLayers = { shared_fs: sharedFs, s3, gcs };
export const dataLayer = z.discriminatedUnion("type", [sharedFs, s3, gcs], {
  error: kindSentence("type", Object.keys(dataLayers)),
});
