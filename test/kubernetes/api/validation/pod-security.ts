// The standards that a namespace's labels ask for: pods that violate the enforced one are refused, and workloads whose
// template violates the other get a warning. Source: docs, "Pod Security Standards", "Pod Security Admission".
import type { Fields, KubeObject } from "../object-store.ts";

export type Mode = "enforce" | "warn";

/** Null if the pods of the object keep to the standard of the namespace. */
export const podSecurityViolation = (
  namespace: KubeObject | null,
  object: KubeObject,
  mode: Mode,
): string | null => {
  const label = "pod-security.kubernetes.io";
  const level = namespace?.metadata.labels?.[`${label}/${mode}`] ?? "privileged";
  const spec: Fields | undefined =
    object.kind === "Pod" ? object.spec : object.spec?.template?.spec;
  if (level === "privileged" || !spec?.containers) return null;
  const found = [...baseline(spec), ...(level === "restricted" ? restricted(spec) : [])];
  if (found.length === 0) return null;
  const version = namespace?.metadata.labels?.[`${label}/${mode}-version`] ?? "latest";
  return `violate PodSecurity "${level}:${version}": ${found.join(", ")}`;
};

const containersOf = (spec: Fields): Fields[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
  ...(spec.ephemeralContainers ?? []),
];

/** "container "a" must ..." or "containers "a", "b" must ...", of those that a rule finds. */
const named = (containers: readonly Fields[]): string => {
  const names = containers.map(({ name }) => JSON.stringify(name)).join(", ");
  return `container${containers.length === 1 ? "" : "s"} ${names}`;
};

const ADDABLE = [
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
];

const baseline = (spec: Fields): string[] => {
  const found: string[] = [];
  const containers = containersOf(spec);
  const rule = (words: string, bad: readonly Fields[], must: string): void => {
    if (bad.length > 0) found.push(`${words} (${named(bad)} ${must})`);
  };
  const shared = ["hostNetwork", "hostPID", "hostIPC"].filter((field) => spec[field]);
  if (shared.length > 0)
    found.push(`host namespaces (${shared.map((field) => `${field}=true`).join(", ")})`);
  rule(
    "privileged",
    containers.filter(({ securityContext }) => securityContext?.privileged),
    "must not set securityContext.privileged=true",
  );
  const adds = ({ securityContext }: Fields): string[] => securityContext?.capabilities?.add ?? [];
  const adding = containers.filter((container) =>
    adds(container).some((one) => !ADDABLE.includes(one)),
  );
  rule(
    "non-default capabilities",
    adding,
    "must not include other than default capabilities in securityContext.capabilities.add",
  );
  const paths = ((spec.volumes ?? []) as Fields[]).filter(({ hostPath }) => hostPath);
  if (paths.length > 0)
    found.push(`hostPath volumes (${named(paths).replace("container", "volume")})`);
  rule(
    "hostPort",
    containers.filter(({ ports }) => ((ports ?? []) as Fields[]).some(({ hostPort }) => hostPort)),
    "uses a hostPort",
  );
  const unconfined = [spec, ...containers].some(
    ({ securityContext }) => securityContext?.seccompProfile?.type === "Unconfined",
  );
  if (unconfined)
    found.push('seccompProfile (must not set securityContext.seccompProfile.type to "Unconfined")');
  rule(
    "procMount",
    containers.filter(({ securityContext }) => securityContext?.procMount === "Unmasked"),
    "must not set securityContext.procMount",
  );
  return found;
};

const VOLUMES = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
];

const restricted = (spec: Fields): string[] => {
  const found: string[] = [];
  const containers = containersOf(spec);
  const pod: Fields = spec.securityContext ?? {};
  const rule = (words: string, isGood: (security: Fields) => boolean, must: string): void => {
    const bad = containers.filter(({ securityContext }) => !isGood(securityContext ?? {}));
    if (bad.length > 0)
      found.push(
        `${words} (${must.startsWith("pod or") ? `pod or ${named(bad)}${must.slice(6)}` : `${named(bad)} ${must}`})`,
      );
  };
  const volumes = ((spec.volumes ?? []) as Fields[]).filter(
    (volume) => !VOLUMES.some((source) => volume[source]),
  );
  if (volumes.length > 0)
    found.push(`restricted volume types (${named(volumes).replace("container", "volume")})`);
  rule(
    "allowPrivilegeEscalation != false",
    (one) => one.allowPrivilegeEscalation === false,
    "must set securityContext.allowPrivilegeEscalation=false",
  );
  const drops = ({ capabilities = {} }: Fields): boolean =>
    (capabilities.drop ?? []).includes("ALL") &&
    ((capabilities.add ?? []) as string[]).every((one) => one === "NET_BIND_SERVICE");
  rule("unrestricted capabilities", drops, 'must set securityContext.capabilities.drop=["ALL"]');
  rule(
    "runAsNonRoot != true",
    (one) => (one.runAsNonRoot ?? pod.runAsNonRoot) === true,
    "pod or must set securityContext.runAsNonRoot=true",
  );
  rule(
    "runAsUser=0",
    (one) => (one.runAsUser ?? pod.runAsUser) !== 0,
    "pod or must not set runAsUser=0",
  );
  const profile = (one: Fields): string => (one.seccompProfile ?? pod.seccompProfile)?.type ?? "";
  rule(
    "seccompProfile",
    (one) => ["RuntimeDefault", "Localhost"].includes(profile(one)),
    'pod or must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"',
  );
  return found;
};
