/**
 * The credentials of a pod: a volume with a token, the certificate of the API server, and the namespace, in each
 * container that mounts nothing there. Source: docs, "Managing Service Accounts" (bound service account tokens,
 * ServiceAccount admission controller), "Configure Service Accounts for Pods".
 */
import type { Pod, ServiceAccount } from "../controllers/kinds.ts";
import type { Container } from "../controllers/pod-kinds.ts";

const path = "/var/run/secrets/kubernetes.io/serviceaccount";
const volumePrefix = "kube-api-access-";
const tokenSeconds = 3_607;
const letters = "bcdfghjklmnpqrstvwxz2456789";

/** Changes the pod's specification. */
export function addServiceAccount({ spec }: Pod, account: ServiceAccount | null): void {
  spec.serviceAccountName ??= "default";
  spec["serviceAccount"] ??= spec.serviceAccountName;
  const mounts = spec.automountServiceAccountToken ?? account?.automountServiceAccountToken ?? true;
  if (!mounts) return;
  const lacking = [...(spec.initContainers ?? []), ...spec.containers].filter(lacks);
  if (lacking.length === 0) return;
  const drawn = Array.from(
    { length: 5 },
    () => letters[Math.floor(Math.random() * letters.length)],
  );
  const name = `${volumePrefix}${drawn.join("")}`;
  spec.volumes = [
    ...(spec.volumes ?? []),
    {
      name,
      projected: {
        defaultMode: 0o644,
        sources: [
          { serviceAccountToken: { path: "token", expirationSeconds: tokenSeconds } },
          { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
          {
            downwardAPI: {
              items: [{ path: "namespace", fieldRef: { fieldPath: "metadata.namespace" } }],
            },
          },
        ],
      },
    },
  ];
  for (const container of lacking) {
    container.volumeMounts = [
      ...(container.volumeMounts ?? []),
      { name, mountPath: path, readOnly: true },
    ];
  }
}

function lacks({ volumeMounts = [] }: Container): boolean {
  return !volumeMounts.some(({ mountPath }) => mountPath === path);
}
