import { z } from "zod";
import { isMapping } from "../json.ts";
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
} from "./values.ts";

/** The variables that tell a trial who it is; the platform sets them. */
const RESERVED = "TRAINYARD_";

const variable = z
  .string()
  .regex(/^[^=]+=/, { error: "must have the form NAME=value" })
  .refine((value) => !value.startsWith(RESERVED), {
    error: `must not begin with ${RESERVED}: those variables are set by the platform`,
  });
const variables = z.array(variable);
/** `gpu` is Determined's older name of `cuda`. */
const byDevice = <Value extends z.ZodType>(value: Value) =>
  section({ cpu: value, cuda: value, rocm: value, gpu: value });
export const variablesByDevice = byDevice(variables);

export const environmentVariables = dispatched(
  (value) => (isMapping(value) ? variablesByDevice : variables),
  () => ({ anyOf: [variables, variablesByDevice].map(jsonSchemaOf) }),
);

export const imageByDevice = byDevice(text);
export const environmentImage = oneOf(
  [text, imageByDevice],
  "text, or a mapping of cpu, cuda and rocm to text",
);

export const proxyPort = entry(
  { proxy_port: positive },
  { proxy_tcp: flag, unauthenticated: flag, default_service_id: flag },
);

export const registryAuth = section({
  username: anyText,
  password: anyText,
  auth: anyText,
  email: anyText,
  serveraddress: anyText,
  identitytoken: anyText,
  registrytoken: anyText,
});

export const environment = section({
  environment_variables: environmentVariables,
  image: environmentImage,
  ports: z.record(z.string(), z.int()),
  proxy_ports: z.array(proxyPort),
  force_pull_image: flag,
  registry_auth: registryAuth,
  add_capabilities: texts,
  drop_capabilities: texts,
  pod_spec: freeMapping,
});
