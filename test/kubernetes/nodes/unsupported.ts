/** The things that a pod asks for and this node does not have: it runs a pod as specified, or not at all. */
import type { Pod } from "../controllers/kinds.ts";
import type { Container, Volume } from "../controllers/pod-kinds.ts";

const volumeKinds: readonly (keyof Volume)[] = [
  "emptyDir",
  "secret",
  "configMap",
  "projected",
  "persistentVolumeClaim",
];

/** Fields that the node does not read, and that would change what the pod sees or does. */
const unread = {
  pod: [
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "runtimeClassName",
    "setHostnameAsFQDN",
    "shareProcessNamespace",
  ],
  podSecurity: ["appArmorProfile", "seLinuxOptions", "sysctls", "windowsOptions"],
  container: ["restartPolicy", "resizePolicy", "stdin", "tty", "volumeDevices"],
  security: ["appArmorProfile", "procMount", "seLinuxOptions", "windowsOptions"],
} as const;

const resources = ["cpu", "memory", "ephemeral-storage"];

/** Returns the first thing that is lacking, as the end of a sentence; null if the node can run the pod. */
export function lacking(
  { spec }: Pod,
  nodeLabels: Readonly<Record<string, string>>,
): string | null {
  const selector = (spec["nodeSelector"] ?? {}) as Readonly<Record<string, string>>;
  const label = Object.entries(selector).find(([key, value]) => nodeLabels[key] !== value);
  if (label !== undefined) return `label ${label.join("=")}`;
  const affinity = (spec["affinity"] ?? {}) as Readonly<Record<string, object>>;
  const required = Object.entries(affinity).find(
    ([, one]) => firstSet(one, ["requiredDuringSchedulingIgnoredDuringExecution"]) !== null,
  );
  if (required !== undefined) return `required ${required[0]}`;
  return (
    firstSet(spec, unread.pod) ??
    firstSet(spec.securityContext ?? {}, unread.podSecurity) ??
    firstOf(spec.volumes ?? [], lackingVolume) ??
    firstOf([...(spec.initContainers ?? []), ...spec.containers], lackingIn)
  );
}

function lackingVolume(volume: Volume): string | null {
  if (volumeKinds.some((kind) => volume[kind] !== undefined)) return null;
  const kinds = Object.keys(volume).filter((key) => key !== "name");
  return `volumes of kind ${kinds.join(", ")}`;
}

function lackingIn(container: Container): string | null {
  const { securityContext = {}, resources: { limits, requests } = {} } = container;
  const profile = securityContext.seccompProfile?.type ?? "RuntimeDefault";
  if (!["RuntimeDefault", "Unconfined"].includes(profile)) return `seccomp profile ${profile}`;
  const amount = Object.keys({ ...limits, ...requests }).find((name) => !resources.includes(name));
  const field = firstSet(container, unread.container) ?? firstSet(securityContext, unread.security);
  return field ?? amount ?? null;
}

function firstSet(object: object, fields: readonly string[]): string | null {
  const values = object as Readonly<Record<string, unknown>>;
  return fields.find((field) => values[field] !== undefined && values[field] !== false) ?? null;
}

function firstOf<T>(all: readonly T[], find: (one: T) => string | null): string | null {
  for (const one of all) {
    const found = find(one);
    if (found !== null) return found;
  }
  return null;
}
