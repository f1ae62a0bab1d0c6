/** Images and variables, for each kind of device or for all; `gpu` is the older name of `cuda`. */
import { z } from "zod";
import { isMapping, type Json, type JsonObject } from "../json.ts";
import { uniteAll, uniteBy } from "../parts/lists.ts";
import type { Part } from "../parts/part.ts";
import {
  anyText,
  dispatched,
  entry,
  flag,
  freeMapping,
  jsonSchemaOf,
  oneOf,
  positive,
  section,
  text,
  texts,
} from "../parts/values.ts";
import { podSpec } from "../sections/pod-spec.ts";
import { eachDevice, listAt } from "./variables.ts";

/** The prefix of the platform's variables with a trial's identity, which users must not set. */
const RESERVED = "TRAINYARD_";

const variable = z
  .string()
  .regex(/^[^=]+=/, { error: "must have the form NAME=value" })
  .refine((value) => !value.startsWith(RESERVED), {
    error: `must not begin with ${RESERVED}: those variables are set by the platform`,
  });
const list = z.array(variable);
/** `gpu` is Determined's older name of `cuda`. */
const byDevice = <Value extends z.ZodType>(value: Value) =>
  section({ cpu: value, cuda: value, rocm: value, gpu: value });
const byDeviceSchema = byDevice(list);

const variablesSchema = dispatched(
  (value) => (isMapping(value) ? byDeviceSchema : list),
  () => ({ anyOf: [list, byDeviceSchema].map(jsonSchemaOf) }),
);

const imageByDevice = byDevice(text);
const imageSchema = oneOf(
  [text, imageByDevice],
  "text, or a mapping of cpu, cuda and rocm to text",
);

const proxyPortSchema = entry(
  { proxy_port: positive },
  { proxy_tcp: flag, unauthenticated: flag, default_service_id: flag },
);

const registryAuth = section({
  username: anyText,
  password: anyText,
  auth: anyText,
  email: anyText,
  serveraddress: anyText,
  identitytoken: anyText,
  registrytoken: anyText,
});

const schema = section({
  environment_variables: variablesSchema,
  image: imageSchema,
  ports: z.record(z.string(), z.int()),
  proxy_ports: z.array(proxyPortSchema),
  force_pull_image: flag,
  registry_auth: registryAuth,
  add_capabilities: texts,
  drop_capabilities: texts,
  pod_spec: freeMapping,
});

function isTexts(value: Json): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function rewriteVariables(value: Json): Json {
  const lists = isMapping(value) ? Object.values(value) : [value];
  return lists.every(isTexts) ? eachDevice((device) => listAt(value, device)) : value;
}

/** Appends this layer's variables to the other layer's: if a name is given twice, the later value wins. */
function mergeVariables(mine: Json, theirs: Json): Json {
  return eachDevice((device) => [...listAt(theirs, device), ...listAt(mine, device)]);
}

function rewriteImage(value: Json): Json {
  if (typeof value === "string") return { cpu: value, cuda: value, rocm: value };
  if (!isMapping(value)) return value;
  const { gpu, ...rest } = value;
  return gpu === undefined ? value : { cuda: gpu, ...rest };
}

/** The images in Determined's documentation; this platform never runs them. */
const images: JsonObject = {
  cpu: "determinedai/pytorch-ngc:0.38.1",
  cuda: "determinedai/pytorch-ngc:0.38.1",
  rocm: "determinedai/pytorch-ngc:0.38.1-rocm",
};

const image: Part = { schema: imageSchema, rewrite: rewriteImage, defaults: images };
const variables: Part = {
  schema: variablesSchema,
  rewrite: rewriteVariables,
  merge: mergeVariables,
};
const proxyPort: Part = {
  schema: proxyPortSchema,
  defaults: { proxy_tcp: false, unauthenticated: false, default_service_id: false },
};
const proxyPorts: Part = {
  schema: schema.shape.proxy_ports.unwrap(),
  each: proxyPort,
  merge: uniteBy("proxy_port"),
};
const capabilities: Part = { schema: texts, merge: uniteAll };

export const environment: Part = {
  schema,
  parts: {
    image,
    environment_variables: variables,
    ports: { schema: freeMapping },
    proxy_ports: proxyPorts,
    registry_auth: { schema: registryAuth },
    add_capabilities: capabilities,
    drop_capabilities: capabilities,
    pod_spec: podSpec,
  },
  defaults: {
    image: {},
    environment_variables: { cpu: [], cuda: [], rocm: [] },
    ports: {},
    proxy_ports: [],
    force_pull_image: false,
    add_capabilities: [],
    drop_capabilities: [],
  },
};

export const environmentParts: Readonly<Record<string, Part>> = {
  environment,
  "environment-image": image,
  "environment-image-map": { ...image, schema: imageByDevice },
  "environment-variables": variables,
  "environment-variables-map": { ...variables, schema: byDeviceSchema },
  "proxy-port": proxyPort,
  "proxy-ports": proxyPorts,
  "registry-auth": { schema: registryAuth },
};
