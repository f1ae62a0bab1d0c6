/**
 * The contents of each namespace from its start: a service account, and the certificate of the API server. Source:
 * docs, "Managing Service Accounts" (ServiceAccount controller, root CA certificate publisher).
 */
import type { Controller, ControllerContext, Key } from "./controller.ts";
import { isDeleted } from "./pod-facts.ts";

export const rootCertificate = "kube-root-ca.crt";

const inNamespace = ({ metadata }: { metadata: { namespace?: string } }): readonly Key[] => [
  { namespace: null, name: metadata.namespace ?? "" },
];

export function namespaceContents({ objects }: ControllerContext, caPem: string): Controller {
  return {
    name: "serviceaccount-controller",
    plural: "namespaces",
    reads: { serviceaccounts: inNamespace, configmaps: inNamespace },
    reconcile: ({ name: namespace }) => {
      const found = objects.get("namespaces", null, namespace);
      if (found === null || isDeleted(found)) return null;
      if (objects.get("serviceaccounts", namespace, "default") === null) {
        const metadata = { name: "default", namespace };
        objects.create("serviceaccounts", { apiVersion: "v1", kind: "ServiceAccount", metadata });
      }
      const map = objects.get("configmaps", namespace, rootCertificate);
      const data = { "ca.crt": caPem };
      if (map === null) {
        const metadata = { name: rootCertificate, namespace };
        objects.create("configmaps", { apiVersion: "v1", kind: "ConfigMap", metadata, data });
      } else if (!isDeleted(map)) {
        objects.update("configmaps", { ...map, data });
      }
      return null;
    },
  };
}
