/**
 * Binds a claim at once, as a storage class with dynamic provisioning does. Source: docs, "Persistent Volumes"
 * (lifecycle of a volume and claim).
 */
import type { Controller, ControllerContext } from "./controller.ts";

export function claims({ objects }: ControllerContext): Controller {
  return {
    name: "persistentvolume-binder",
    plural: "persistentvolumeclaims",
    reads: {},
    reconcile: ({ namespace, name }) => {
      const claim = objects.get("persistentvolumeclaims", namespace, name);
      if (claim === null || claim.status?.phase === "Bound") return null;
      const { volumeName = `pvc-${claim.metadata.uid}`, accessModes = [], resources } = claim.spec;
      const bound = objects.update("persistentvolumeclaims", {
        ...claim,
        spec: { ...claim.spec, volumeName },
      });
      const capacity = { storage: resources?.requests?.["storage"] ?? "0" };
      const status = { phase: "Bound", accessModes, capacity };
      objects.updateStatus("persistentvolumeclaims", { ...bound, status });
      return null;
    },
  };
}
