/**
 * The variables, the command and the arguments of a container. Source: docs, "Define Environment Variables for a
 * Container", "Define Dependent Environment Variables", "Expose Pod Information to Containers Through Environment
 * Variables", "Service" (discovery by environment variables).
 */
import type { Objects, Pod, Service } from "../controllers/kinds.ts";
import type { Container, EnvVar, KeyRef, Labels } from "../controllers/pod-kinds.ts";
import { quantity } from "../api/validation/quantity.ts";

/** The container cannot be configured: its reason is CreateContainerConfigError. */
export class ConfigError extends Error {}

export type PodFacts = {
  readonly podIP: string;
  readonly hostIP: string;
  readonly nodeName: string;
  /** The node's own resources, which are the limits of a container without. */
  readonly allocatable: Readonly<Record<string, number>>;
};

type World = { readonly objects: Objects; readonly pod: Pod; readonly facts: PodFacts };

export function environmentOf(container: Container, world: World): Record<string, string> {
  const { objects, pod } = world;
  const links = serviceVariables(objects.list("services", pod.metadata.namespace ?? ""), {
    kubernetes: objects.get("services", "default", "kubernetes"),
    linked: pod.spec.enableServiceLinks ?? true,
  });
  const own: Record<string, string> = { ...sourced(container, world) };
  for (const variable of container.env ?? []) {
    const value = valueOf(variable, container, world, { ...links, ...own });
    if (value !== null) own[variable.name] = value;
  }
  return { HOSTNAME: hostnameOf(pod), ...links, ...own };
}

/** Replaces `$(NAME)` by the variable; `$$` is `$`, and a reference to an unknown variable stays. */
export function expanded(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$(?:\$|\(([^()]*)\))/g, (all, name?: string) => {
    if (all === "$$") return "$";
    return variables[name ?? ""] ?? all;
  });
}

/** The host name of a pod: a name of more than 63 characters is cut. */
export function hostnameOf({ spec, metadata }: Pod): string {
  return spec.hostname ?? metadata.name.slice(0, 63).replace(/[-.]+$/, "");
}

function sourced({ envFrom = [] }: Container, { objects, pod }: World): Record<string, string> {
  const namespace = pod.metadata.namespace ?? "";
  const all = envFrom.flatMap(({ prefix = "", secretRef, configMapRef }) => {
    const secret = secretRef && objects.get("secrets", namespace, secretRef.name ?? "");
    const map = configMapRef && objects.get("configmaps", namespace, configMapRef.name ?? "");
    const absent = secret === null ? "secret" : map === null ? "configmap" : null;
    const { name = "", optional = false } = secretRef ?? configMapRef ?? {};
    if (absent !== null && !optional) throw new ConfigError(`${absent} "${name}" not found`);
    const data = { ...map?.data, ...mapped(secret?.data ?? {}, decoded) };
    return Object.entries(data).map(([key, value]) => [`${prefix}${key}`, value] as const);
  });
  return Object.fromEntries(all);
}

function valueOf(
  { value = "", valueFrom }: EnvVar,
  container: Container,
  { objects, pod, facts }: World,
  known: Readonly<Record<string, string>>,
): string | null {
  if (valueFrom === undefined) return expanded(value, known);
  const { secretKeyRef, configMapKeyRef, fieldRef, resourceFieldRef } = valueFrom;
  if (fieldRef !== undefined) return fieldOf(fieldRef.fieldPath, pod, facts);
  if (resourceFieldRef !== undefined) {
    const { containerName, resource, divisor } = resourceFieldRef;
    const all = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
    const of = all.find(({ name }) => name === containerName) ?? container;
    return resourceOf(of, resource, divisor, facts.allocatable);
  }
  const namespace = pod.metadata.namespace ?? "";
  if (secretKeyRef !== undefined) {
    const secret = objects.get("secrets", namespace, secretKeyRef.name ?? "");
    const found = keyed("Secret", secretKeyRef, namespace, secret && (secret.data ?? {}));
    return found === null ? null : decoded(found);
  }
  if (configMapKeyRef !== undefined) {
    const map = objects.get("configmaps", namespace, configMapKeyRef.name ?? "");
    return keyed("ConfigMap", configMapKeyRef, namespace, map && (map.data ?? {}));
  }
  throw new ConfigError("a variable has an unknown source");
}

function keyed(
  kind: "Secret" | "ConfigMap",
  { name = "", key, optional = false }: KeyRef,
  namespace: string,
  data: Labels | null,
): string | null {
  const found = data?.[key] ?? null;
  if (found !== null || optional) return found;
  if (data === null) throw new ConfigError(`${kind.toLowerCase()} "${name}" not found`);
  throw new ConfigError(`couldn't find key ${key} in ${kind} ${namespace}/${name}`);
}

/** Returns a field of the downward API. */
export function fieldOf(path: string, pod: Pod, facts: PodFacts): string {
  const { metadata, spec } = pod;
  const entry = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (entry !== null) return metadata[entry[1] as "labels" | "annotations"]?.[entry[2] ?? ""] ?? "";
  const fields: Readonly<Record<string, string>> = {
    "metadata.name": metadata.name,
    "metadata.namespace": metadata.namespace ?? "",
    "metadata.uid": metadata.uid ?? "",
    "metadata.labels": lines(metadata.labels ?? {}),
    "metadata.annotations": lines(metadata.annotations ?? {}),
    "spec.nodeName": facts.nodeName,
    "spec.serviceAccountName": spec.serviceAccountName ?? "default",
    "status.hostIP": facts.hostIP,
    "status.hostIPs": facts.hostIP,
    "status.podIP": facts.podIP,
    "status.podIPs": facts.podIP,
  };
  const found = fields[path];
  if (found === undefined) throw new ConfigError(`field path ${path} is not supported`);
  return found;
}

function lines(map: Labels): string {
  return Object.entries(map)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join("\n");
}

function resourceOf(
  { resources = {} }: Container,
  resource: string,
  divisor: string | number = "1",
  allocatable: PodFacts["allocatable"],
): string {
  const [kind = "", name = ""] = resource.split(".");
  const given = resources[kind as "limits" | "requests"]?.[name];
  const found = given ?? (kind === "requests" ? resources.limits?.[name] : undefined);
  const rest = kind === "limits" ? (allocatable[name] ?? 0) : 0;
  const by = quantity(divisor) || 1;
  return String(Math.ceil((found === undefined ? rest : quantity(found)) / by));
}

/** The variables of a namespace's Services, and always those of the API server. */
function serviceVariables(
  services: readonly Service[],
  { kubernetes, linked }: { kubernetes: Service | null; linked: boolean },
): Record<string, string> {
  const others = linked ? services.filter(({ metadata }) => metadata.name !== "kubernetes") : [];
  const all = [...others, ...(kubernetes === null ? [] : [kubernetes])];
  return Object.assign({}, ...all.map(variablesOf)) as Record<string, string>;
}

function variablesOf({ metadata, spec }: Service): Record<string, string> {
  const { clusterIP = "", ports = [] } = spec;
  const [first] = ports;
  if (clusterIP === "" || clusterIP === "None" || first === undefined) return {};
  const name = metadata.name.toUpperCase().replaceAll("-", "_");
  const made: Record<string, string> = {
    [`${name}_SERVICE_HOST`]: clusterIP,
    [`${name}_SERVICE_PORT`]: String(first.port),
    [`${name}_PORT`]: `${(first.protocol ?? "TCP").toLowerCase()}://${clusterIP}:${first.port}`,
  };
  for (const { name: of = "", port, protocol = "TCP" } of ports) {
    const lower = protocol.toLowerCase();
    const prefix = `${name}_PORT_${port}_${protocol}`;
    if (of !== "")
      made[`${name}_SERVICE_PORT_${of.toUpperCase().replaceAll("-", "_")}`] = `${port}`;
    made[prefix] = `${lower}://${clusterIP}:${port}`;
    made[`${prefix}_PROTO`] = lower;
    made[`${prefix}_PORT`] = String(port);
    made[`${prefix}_ADDR`] = clusterIP;
  }
  return made;
}

export function decoded(base64: string): string {
  return Buffer.from(base64, "base64").toString();
}

function mapped(map: Labels, change: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}
