/**
 * The objects of a node and of the API server, which every cluster has. Source: docs, "Nodes", "Node Status",
 * "Accessing the Kubernetes API from a Pod".
 */
import process from "node:process";
import type { Objects } from "../controllers/kinds.ts";

const architecture = process.arch === "x64" ? "amd64" : process.arch;
const version = "v1.33.0";

export const nodeLabels = (name: string): Record<string, string> => ({
  "kubernetes.io/arch": architecture,
  "kubernetes.io/hostname": name,
  "kubernetes.io/os": "linux",
});

export function addNode(
  objects: Objects,
  name: string,
  address: string,
  resources: Readonly<Record<string, number>>,
): void {
  const at = `${new Date().toISOString().slice(0, 19)}Z`;
  const amounts = Object.fromEntries(
    Object.entries({ ...resources, pods: 110 }).map(([key, value]) => [key, String(value)]),
  );
  const metadata = { name, labels: nodeLabels(name) };
  const node = objects.create("nodes", { apiVersion: "v1", kind: "Node", metadata, spec: {} });
  const ready = {
    type: "Ready",
    status: "True",
    reason: "KubeletReady",
    message: "kubelet is posting ready status",
    lastHeartbeatTime: at,
    lastTransitionTime: at,
  };
  const status = {
    capacity: amounts,
    allocatable: amounts,
    conditions: [ready],
    addresses: [
      { type: "InternalIP", address },
      { type: "Hostname", address: name },
    ],
    nodeInfo: {
      architecture,
      bootID: "",
      containerRuntimeVersion: "podman://4",
      kernelVersion: "",
      kubeProxyVersion: version,
      kubeletVersion: version,
      machineID: "",
      operatingSystem: "linux",
      osImage: "",
      systemUUID: "",
    },
  };
  objects.updateStatus("nodes", { ...node, status });
}

/** The Service `kubernetes`, whose endpoint is the API server's port on the bridge. */
export function addApiServer(
  objects: Objects,
  clusterIP: string,
  address: string,
  port: number,
): void {
  const named = (labels: Record<string, string>) => ({
    name: "kubernetes",
    namespace: "default",
    labels,
  });
  objects.create("services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: named({ component: "apiserver", provider: "kubernetes" }),
    spec: {
      type: "ClusterIP",
      clusterIP,
      ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: port }],
    },
  });
  objects.create("endpoints", {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: named({ "endpointslice.kubernetes.io/skip-mirror": "true" }),
    subsets: [{ addresses: [{ ip: address }], ports: [{ name: "https", port, protocol: "TCP" }] }],
  });
  objects.create("endpointslices", {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: named({ "kubernetes.io/service-name": "kubernetes" }),
    addressType: "IPv4",
    endpoints: [
      { addresses: [address], conditions: { ready: true, serving: true, terminating: false } },
    ],
    ports: [{ name: "https", port, protocol: "TCP" }],
  });
}
