/** Images and variables are by device, or one for all devices; `gpu` is the older name of `cuda`. */
import { isMapping, type Json, type JsonObject, valueAt } from "../json.ts";
import {
  environmentImage,
  environment as environmentSchema,
  environmentVariables,
  imageByDevice,
  proxyPort as proxyPortSchema,
  registryAuth,
  variablesByDevice as variablesSchema,
} from "../schema/environment.ts";
import { freeMapping, texts } from "../schema/values.ts";
import { asList, uniteAll, uniteBy } from "./lists.ts";
import type { Part } from "./part.ts";
import { podSpec } from "./pod-spec.ts";

const devices = ["cpu", "cuda", "rocm"] as const;
export type VariablesByDevice = { cpu: string[]; cuda: string[]; rocm: string[] };

/** What each kind of device gets; of a name given twice the later one stands. */
export function variablesByDevice(value: Json | undefined): VariablesByDevice {
  const listFor = (device: (typeof devices)[number]): string[] =>
    lastOfEachName(listAt(value ?? null, device).filter((one) => typeof one === "string"));
  return { cpu: listFor("cpu"), cuda: listFor("cuda"), rocm: listFor("rocm") };
}

/** A list without devices is for each of them. */
function listAt(value: Json, device: (typeof devices)[number]): Json[] {
  if (!isMapping(value)) return asList(value);
  const older = device === "cuda" ? (valueAt(value, "gpu") ?? null) : null;
  return asList(valueAt(value, device) ?? older);
}

function eachDevice(listFor: (device: (typeof devices)[number]) => Json[]): JsonObject {
  return Object.fromEntries(devices.map((device) => [device, listFor(device)]));
}

const nameOf = (variable: string): string => {
  const sign = variable.indexOf("=");
  return sign < 0 ? variable : variable.slice(0, sign);
};

function lastOfEachName(variables: readonly string[]): string[] {
  const last = new Map<string, string>();
  for (const variable of variables) {
    last.delete(nameOf(variable));
    last.set(nameOf(variable), variable);
  }
  return [...last.values()];
}

function isTexts(value: Json): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function rewriteVariables(value: Json): Json {
  const lists = isMapping(value) ? Object.values(value) : [value];
  return lists.every(isTexts) ? eachDevice((device) => listAt(value, device)) : value;
}

/** Mine come after theirs: of a name given twice the later one stands. */
function mergeVariables(mine: Json, theirs: Json): Json {
  return eachDevice((device) => [...listAt(theirs, device), ...listAt(mine, device)]);
}

function rewriteImage(value: Json): Json {
  if (typeof value === "string") return { cpu: value, cuda: value, rocm: value };
  if (!isMapping(value)) return value;
  const { gpu, ...rest } = value;
  return gpu === undefined ? value : { cuda: gpu, ...rest };
}

/** Those that Determined's documentation names; nothing runs in them here. */
const images: JsonObject = {
  cpu: "determinedai/pytorch-ngc:0.38.1",
  cuda: "determinedai/pytorch-ngc:0.38.1",
  rocm: "determinedai/pytorch-ngc:0.38.1-rocm",
};

const image: Part = { schema: environmentImage, rewrite: rewriteImage, defaults: images };
const variables: Part = {
  schema: environmentVariables,
  rewrite: rewriteVariables,
  merge: mergeVariables,
};
const proxyPort: Part = {
  schema: proxyPortSchema,
  defaults: { proxy_tcp: false, unauthenticated: false, default_service_id: false },
};
const proxyPorts: Part = {
  schema: environmentSchema.shape.proxy_ports.unwrap(),
  each: proxyPort,
  merge: uniteBy("proxy_port"),
};
const capabilities: Part = { schema: texts, merge: uniteAll };

export const environment: Part = {
  schema: environmentSchema,
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
  "environment-variables-map": { ...variables, schema: variablesSchema },
  "proxy-port": proxyPort,
  "proxy-ports": proxyPorts,
  "registry-auth": { schema: registryAuth },
};
