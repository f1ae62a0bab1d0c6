/** Says what a pod asks for that this node does not have: it runs a pod as specified, or not at all. */
import type { Pod } from "../controllers/kinds.ts";
import type { Container, Volume } from "../controllers/pod-kinds.ts";

const volumeKinds: readonly (keyof Volume)[] = [
  "emptyDir",
  "secret",
  "configMap",
  "projected",
  "persistentVolumeClaim",
];

/** Returns the first thing that is lacking, as the end of a sentence; null if the node can run the pod. */
export function lacking({ spec }: Pod): string | null {
  const flags = ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace"];
  const flag = flags.find((name) => spec[name] === true);
  if (flag !== undefined) return flag;
  if (spec["runtimeClassName"] !== undefined) return "runtime classes";
  const volume = (spec.volumes ?? []).find(
    (one) => !volumeKinds.some((kind) => one[kind] !== undefined),
  );
  if (volume !== undefined) {
    const kinds = Object.keys(volume).filter((key) => key !== "name");
    return `volumes of kind ${kinds.join(", ")}`;
  }
  return firstOf([...(spec.initContainers ?? []), ...spec.containers], lackingIn);
}

function lackingIn(container: Container): string | null {
  if (container.restartPolicy !== undefined) return "restartPolicy of containers";
  if ((container.volumeDevices ?? []).length > 0) return "block devices";
  if (container.volumeMounts?.some(({ subPathExpr }) => subPathExpr !== undefined))
    return "subPathExpr";
  const types = container.securityContext?.seccompProfile?.type ?? "RuntimeDefault";
  if (!["RuntimeDefault", "Unconfined"].includes(types)) return `seccomp profiles of type ${types}`;
  const known = ["cpu", "memory", "ephemeral-storage"];
  const amounts = { ...container.resources?.limits, ...container.resources?.requests };
  return Object.keys(amounts).find((name) => !known.includes(name)) ?? null;
}

function firstOf<T>(all: readonly T[], find: (one: T) => string | null): string | null {
  for (const one of all) {
    const found = find(one);
    if (found !== null) return found;
  }
  return null;
}
