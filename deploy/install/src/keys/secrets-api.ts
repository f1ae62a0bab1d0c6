/** The Secrets of the pod's namespace, by the API of Kubernetes with the pod's service account. */
import { ApiException, CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import { Fault } from "@trainyard/kernel";
import { reasonOf } from "@trainyard/runtime/failed-start";
import type { NewSecret, Secrets } from "./ensure-secret.ts";

const description =
  "Made once by the Job keys of Trainyard and never replaced: runs, the first API token and the roles of PostgreSQL depend on these values.";

/**
 * Returns the Secrets of the pod's namespace; its service account is below /var/run of `root`. Throws a Fault outside
 * of a pod.
 */
export async function secretsInCluster(
  environment: Readonly<Record<string, string>>,
  root = "",
): Promise<Secrets> {
  if ((environment["KUBERNETES_SERVICE_HOST"] ?? "") === "") {
    const told = "this is not a pod of Kubernetes: KUBERNETES_SERVICE_HOST is not set";
    throw new Fault("no_pod", told, { retry: "never" });
  }
  const config = new KubeConfig();
  config.loadFromCluster(root);
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace?.trim() ?? "";
  if (namespace === "") {
    const told =
      "the pod has no service account: set automountServiceAccountToken and a serviceAccountName";
    throw new Fault("no_service_account", told, { retry: "never" });
  }
  return secretsOf(config, namespace);
}

function secretsOf(config: KubeConfig, namespace: string): Secrets {
  const api = config.makeApiClient(CoreV1Api);
  const server = config.getCurrentCluster()?.server ?? "";
  return {
    namespace,
    async keysOf(name) {
      try {
        const { data = {} } = await api.readNamespacedSecret({ name, namespace });
        return new Set(Object.keys(data).filter((key) => data[key] !== ""));
      } catch (error) {
        if (error instanceof ApiException && error.code === 404) return null;
        throw faultOf(error, { verb: "get", namespace, server });
      }
    },
    async create(secret) {
      try {
        await api.createNamespacedSecret({ namespace, body: bodyOf(secret) });
        return true;
      } catch (error) {
        if (error instanceof ApiException && error.code === 409) return false;
        throw faultOf(error, { verb: "create", namespace, server });
      }
    },
  };
}

const bodyOf = ({ name, labels, values }: NewSecret) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    name,
    labels: { ...labels, "app.kubernetes.io/managed-by": "trainyard-keys" },
    annotations: { "kubernetes.io/description": description },
  },
  type: "Opaque",
  stringData: { ...values },
});

type Asked = { readonly verb: string; readonly namespace: string; readonly server: string };

/** Returns one sentence that names the verb, the resource and the namespace. */
function faultOf(error: unknown, { verb, namespace, server }: Asked): Fault {
  const asked = `the verb "${verb}" on the resource "secrets" in the namespace "${namespace}"`;
  if (!(error instanceof ApiException)) {
    const told = `the API server of Kubernetes at ${server} does not answer (${innermost(error)}), so ${asked} failed`;
    return new Fault("kubernetes_away", told, { retry: "later", cause: error });
  }
  const told = `the API server of Kubernetes refuses ${asked} with ${error.code}${hintOf(error)}`;
  return new Fault("kubernetes_refused", told, { retry: "never", cause: error });
}

function hintOf({ code, body }: ApiException<unknown>): string {
  if (code === 401) return ": it does not accept the token of the service account";
  if (code === 403) return ": a Role must give it to the service account of this pod";
  const message = messageOf(String(body));
  return message === "" ? "" : `: ${message}`;
}

/** Returns the message of a Status; empty if the body is something else, as that of a proxy is. */
function messageOf(body: string): string {
  try {
    const { message } = JSON.parse(body) as { readonly message?: unknown };
    return typeof message === "string" ? message : "";
  } catch {
    return "";
  }
}

/** Returns the reason of a connection that failed, which is the innermost cause. */
function innermost(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? (reasonOf(error).split("\n")[0] ?? "") : innermost(cause);
}
