/** Images and variables, for each kind of device or for all; `gpu` is the older name of `cuda`. */
import { isMapping, type Json, type JsonObject, valueAt, withRest } from "../json.ts";
import { uniteAll, uniteBy } from "../parts/lists.ts";
import type { Part } from "../parts/part.ts";
import type { Values } from "../parts/values.ts";
import { IN_CONTAINERS, NOT_YET, type SectionModule, sectionPart } from "./module.ts";
import { podSpec } from "./pod-spec.ts";
import { eachDevice, listAt, variablesByDevice } from "./variables.ts";

/** The prefix of the platform's variables with a trial's identity, which users must not set. */
const RESERVED = "TRAINYARD_";

type Schema = Part["schema"];

/** `gpu` is Determined's older name of `cuda`. */
const byDevice = ({ section }: Values, value: Schema): Schema =>
  section({ cpu: value, cuda: value, rocm: value, gpu: value });

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

function variables(values: Values) {
  const { dispatched, jsonSchemaOf, z } = values;
  const variable = z
    .string()
    .regex(/^[^=]+=/, { error: "must have the form NAME=value" })
    .refine((value) => !value.startsWith(RESERVED), {
      error: `must not begin with ${RESERVED}: those variables are set by the platform`,
    });
  const list = z.array(variable);
  const map = byDevice(values, list);
  const schema = dispatched(
    (value) => (isMapping(value) ? map : list),
    () => ({ anyOf: [list, map].map(jsonSchemaOf) }),
  ).describe("Variables such as NAME=value, or by the kind of device.");
  const rules = { rewrite: rewriteVariables, merge: mergeVariables };
  return { part: { schema, ...rules }, ofMap: { schema: map, ...rules } };
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

function image(values: Values) {
  const map = byDevice(values, values.text);
  const mustBe = "text, or a mapping of cpu, cuda and rocm to text";
  const rules = { rewrite: rewriteImage, defaults: images };
  return {
    part: {
      schema: values
        .oneOf([values.text, map], mustBe)
        .describe("The container image, one or by the kind of device."),
      ...rules,
    },
    ofMap: { schema: map, ...rules },
  };
}

const proxyPort = ({ entry, flag, positive }: Values): Part => ({
  schema: entry(
    { proxy_port: positive },
    { proxy_tcp: flag, unauthenticated: flag, default_service_id: flag },
  ),
  defaults: { proxy_tcp: false, unauthenticated: false, default_service_id: false },
});

export function proxyPorts(values: Values): Part {
  const each = proxyPort(values);
  return { schema: values.z.array(each.schema), each, merge: uniteBy("proxy_port") };
}

const registryAuth = ({ anyText, section }: Values): Part => ({
  schema: section({
    username: anyText,
    password: anyText,
    auth: anyText,
    email: anyText,
    serveraddress: anyText,
    identitytoken: anyText,
    registrytoken: anyText,
  }),
});

export const environment = {
  description: "Variables, and the container image, of each run.",
  keys: ({ flag }) => ({ force_pull_image: flag }),
  parts: (values) => ({
    image: image(values).part,
    environment_variables: variables(values).part,
    ports: { schema: values.z.record(values.z.string(), values.z.int()) },
    proxy_ports: proxyPorts(values),
    registry_auth: registryAuth(values),
    add_capabilities: { schema: values.texts, merge: uniteAll },
    drop_capabilities: { schema: values.texts, merge: uniteAll },
    pod_spec: podSpec(values),
  }),
  asWritten: {
    image: IN_CONTAINERS,
    ports: NOT_YET,
    proxy_ports:
      "opens ports on the agent's host, and no proxy asks who connects: the training code has to",
    force_pull_image: IN_CONTAINERS,
    registry_auth: NOT_YET,
    add_capabilities: IN_CONTAINERS,
    drop_capabilities: IN_CONTAINERS,
    pod_spec: NOT_YET,
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
  read: (section: JsonObject) =>
    withRest(
      { environment_variables: variablesByDevice(valueAt(section, "environment_variables")) },
      section,
    ),
} satisfies SectionModule;

export function environmentParts(values: Values): Readonly<Record<string, Part>> {
  return {
    environment: sectionPart(environment, values),
    "environment-image": image(values).part,
    "environment-image-map": image(values).ofMap,
    "environment-variables": variables(values).part,
    "environment-variables-map": variables(values).ofMap,
    "proxy-port": proxyPort(values),
    "proxy-ports": proxyPorts(values),
    "registry-auth": registryAuth(values),
  };
}
