/** Determined's data layer, which its last releases ignore: it is parsed so that older configurations are accepted. */
import { z } from "zod";
import { isMapping, valueAt } from "../json.ts";
import { kindOf } from "../parts/kinds.ts";
import type { Check, Part } from "../parts/part.ts";
import { anyText, entry, oneOfKinds, text } from "../parts/values.ts";

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

const dataLayers = { shared_fs: sharedFs, s3, gcs };
const schema = oneOfKinds("type", Object.values(dataLayers), Object.keys(dataLayers));

const checkCache: Check = (layer, path, note) => {
  if (!isMapping(layer)) return;
  const keys = ["local_cache_host_path", "local_cache_container_path"];
  const [given, absent] = [true, false].map((there) =>
    keys.find((key) => (valueAt(layer, key) !== undefined) === there),
  );
  if (given === undefined || absent === undefined) return;
  note(
    `${path === "" ? "" : `${path}.`}${absent}`,
    `is missing: ${given} has no effect without it`,
  );
};

const partOf = (name: keyof typeof dataLayers): Part => ({
  schema: dataLayers[name],
  check: checkCache,
});
const kinds = { shared_fs: partOf("shared_fs"), s3: partOf("s3"), gcs: partOf("gcs") };
export const dataLayer: Part = { schema, kind: kindOf("type", kinds) };

export const dataLayerParts: Readonly<Record<string, Part>> = {
  "data-layer": dataLayer,
  "data-layer-shared-fs": kinds.shared_fs,
  "data-layer-s3": kinds.s3,
  "data-layer-gcs": kinds.gcs,
};
