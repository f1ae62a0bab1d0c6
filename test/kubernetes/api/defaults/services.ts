// Addresses and ports of services. Source: docs, "Service", "Service ClusterIP allocation"; API reference, "Service".
import type { Fields, KubeObject } from "../object-store.ts";

/** Gives each service an address of its own. */
export type Allocate = { address(): string; nodePort(): number };

/** 10.96.0.0/16 and 30000-32767, the ranges of a default cluster; the first address is that of the API. */
export const createAllocator = (address?: () => string): Allocate => {
  let addresses = 10;
  let ports = 0;
  return {
    address: () => {
      if (address !== undefined) return address();
      addresses += 1;
      return `10.96.${addresses >> 8}.${addresses & 0xff}`;
    },
    nodePort: () => {
      ports += 1;
      return 30_000 + (ports % 2768);
    },
  };
};

export const defaultService = (
  service: KubeObject,
  old: KubeObject | null,
  allocate: Allocate,
): void => {
  const spec: Fields = (service.spec ??= {});
  spec.type ??= "ClusterIP";
  spec.sessionAffinity ??= "None";
  for (const port of spec.ports ?? []) {
    port.protocol ??= "TCP";
    port.targetPort ??= port.port;
  }
  if (spec.sessionAffinity === "ClientIP") {
    spec.sessionAffinityConfig ??= { clientIP: { timeoutSeconds: 10_800 } };
  }
  if (spec.type === "ExternalName") return;
  spec.internalTrafficPolicy ??= "Cluster";
  // An update that leaves the address out keeps it.
  if (old?.spec.clusterIP && !spec.clusterIP && old.spec.type !== "ExternalName") {
    spec.clusterIP = old.spec.clusterIP;
    spec.clusterIPs ??= old.spec.clusterIPs;
  }
  spec.clusterIP ||= spec.clusterIPs?.[0] ?? allocate.address();
  spec.clusterIPs ??= [spec.clusterIP];
  spec.ipFamilyPolicy ??= "SingleStack";
  spec.ipFamilies ??= ["IPv4"];
  if (spec.type !== "NodePort" && spec.type !== "LoadBalancer") return;
  spec.externalTrafficPolicy ??= "Cluster";
  if (spec.type === "LoadBalancer") spec.allocateLoadBalancerNodePorts ??= true;
  for (const port of spec.ports ?? []) {
    const before = (old?.spec.ports ?? []).find((one: Fields) => one.port === port.port);
    port.nodePort ??= before?.nodePort ?? allocate.nodePort();
  }
};
