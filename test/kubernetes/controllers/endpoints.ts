/**
 * The addresses of a Service's pods, as one EndpointSlice and one Endpoints object. A pod that is being deleted is not
 * ready, and serves while its own probe says so. Source: docs, "EndpointSlices" (conditions), "Service"
 * (publishNotReadyAddresses, named ports), "DNS for Services and Pods" (hostname and subdomain).
 */
import { type Controller, type ControllerContext, type Key, keyOf, ownedBy } from "./controller.ts";
import type {
  EndpointSlice,
  Pod,
  Service,
  ServicePort,
  SliceEndpoint,
  SlicePort,
} from "./kinds.ts";
import { isDeleted, isOver, isReady } from "./pod-facts.ts";
import { selects } from "./selectors.ts";

const serviceLabel = "kubernetes.io/service-name";

export function endpoints(context: ControllerContext): Controller {
  const { objects } = context;
  return {
    name: "endpoint-controller",
    plural: "services",
    reads: {
      pods: (pod) => {
        const { namespace = "", labels } = pod.metadata;
        const selecting = objects
          .list("services", namespace)
          .filter(({ spec }) => spec.selector && selects({ matchLabels: spec.selector }, labels));
        return selecting.map(keyOf);
      },
    },
    reconcile: (key) => reconcile(key, context),
  };
}

function reconcile({ namespace, name }: Key, { objects }: ControllerContext): null {
  const service = objects.get("services", namespace, name);
  const slice = objects
    .list("endpointslices", namespace)
    .find(({ metadata }) => metadata.labels?.[serviceLabel] === name);
  const old = objects.get("endpoints", namespace, name);
  if (service === null || isDeleted(service)) {
    // A slice has its Service as its owner; Endpoints have none.
    if (slice?.metadata.ownerReferences !== undefined) objects.delete("endpointslices", slice);
    if (old !== null) objects.delete("endpoints", old);
    return null;
  }
  const { selector, type } = service.spec;
  if (selector === undefined || type === "ExternalName") return null;
  const pods = objects
    .list("pods", namespace)
    .filter((pod) => selects({ matchLabels: selector }, pod.metadata.labels))
    .filter((pod) => !isOver(pod) && pod.status?.podIP !== undefined);
  const made = sliceOf(service, pods);
  if (slice === undefined) objects.create("endpointslices", made);
  else objects.update("endpointslices", { ...slice, endpoints: made.endpoints, ports: made.ports });
  const subsets = subsetsOf(made);
  const labels = { ...service.metadata.labels, ...headlessLabel(service) };
  if (old !== null) objects.update("endpoints", { ...old, subsets });
  else {
    const metadata = { name, ...(namespace === null ? {} : { namespace }), labels };
    objects.create("endpoints", { apiVersion: "v1", kind: "Endpoints", metadata, subsets });
  }
  return null;
}

function sliceOf(service: Service, pods: readonly Pod[]): EndpointSlice {
  const { metadata, spec } = service;
  const ports = (spec.ports ?? []).flatMap((port) => portOf(port, pods));
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: "",
      generateName: `${metadata.name}-`,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      labels: {
        ...metadata.labels,
        [serviceLabel]: metadata.name,
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        ...headlessLabel(service),
      },
      ownerReferences: [ownedBy(service)],
    },
    addressType: "IPv4",
    endpoints: pods.map((pod) => endpointOf(pod, service)),
    ports,
  };
}

function headlessLabel({ spec }: Service): Readonly<Record<string, string>> {
  return spec.clusterIP === "None" ? { "service.kubernetes.io/headless": "" } : {};
}

function endpointOf(pod: Pod, { metadata, spec }: Service): SliceEndpoint {
  const terminating = isDeleted(pod);
  const serving = isReady(pod);
  const ready = spec.publishNotReadyAddresses === true || (serving && !terminating);
  const { hostname, subdomain, nodeName } = pod.spec;
  return {
    addresses: [pod.status?.podIP ?? ""],
    conditions: { ready, serving, terminating },
    ...(hostname !== undefined && subdomain === metadata.name ? { hostname } : {}),
    ...(nodeName === undefined ? {} : { nodeName }),
    targetRef: {
      kind: "Pod",
      namespace: pod.metadata.namespace,
      name: pod.metadata.name,
      uid: pod.metadata.uid,
    },
  };
}

/** A named port is that of the first pod that has it. */
function portOf(port: ServicePort, pods: readonly Pod[]): readonly SlicePort[] {
  const { name = "", protocol = "TCP", targetPort = port.port, appProtocol } = port;
  const found =
    typeof targetPort === "number"
      ? targetPort
      : pods
          .flatMap(({ spec }) => spec.containers.flatMap(({ ports = [] }) => ports))
          .find((one) => one.name === targetPort)?.containerPort;
  if (found === undefined) return [];
  return [{ name, port: found, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }];
}

function subsetsOf({ endpoints: all, ports }: EndpointSlice): readonly object[] {
  const addresses = (some: readonly SliceEndpoint[]): object[] =>
    some.map(({ addresses: [ip], hostname, nodeName, targetRef }) => ({
      ip,
      ...(hostname === undefined ? {} : { hostname }),
      nodeName,
      targetRef,
    }));
  // An Endpoints object leaves terminating pods out.
  const ready = addresses(all.filter(({ conditions }) => conditions.ready));
  const others = addresses(
    all.filter(({ conditions }) => !conditions.ready && !conditions.terminating),
  );
  if (ready.length + others.length === 0) return [];
  return [
    {
      ...(ready.length === 0 ? {} : { addresses: ready }),
      ...(others.length === 0 ? {} : { notReadyAddresses: others }),
      ...(ports.length === 0
        ? {}
        : {
            ports: ports.map(({ name, ...rest }) => ({
              ...(name === "" ? {} : { name }),
              ...rest,
            })),
          }),
    },
  ];
}
