/**
 * The addresses of Services: a port listens while it has an endpoint, and refuses connections otherwise. Sessions
 * have no affinity, protocols other than TCP are not served, and pods see the node's address as that of their client.
 * Source: docs, "Service", "Virtual IPs and Service Proxies", "EndpointSlices".
 */
import type { EndpointSlice, Objects, Service } from "../controllers/kinds.ts";
import { uidOf } from "../controllers/kinds.ts";
import { Forwarder, type Target } from "./forwarder.ts";
import type { PodNetwork } from "./pod-network.ts";

type Conditions = EndpointSlice["endpoints"][number]["conditions"];
type Served = { readonly address: string; readonly ports: Map<string, Promise<Forwarder>> };

export class Services {
  readonly #objects: Objects;
  readonly #network: PodNetwork;
  readonly #served = new Map<string, Served>();
  readonly #watches: readonly (() => void)[];
  readonly #problem: (error: unknown) => void;

  constructor(objects: Objects, network: PodNetwork, problem: (error: unknown) => void) {
    this.#problem = problem;
    this.#objects = objects;
    this.#network = network;
    for (const service of objects.list("services")) this.#serve(service);
    this.#watches = [
      objects.watch("services", (service, type) =>
        type === "DELETED" ? this.#forget(service) : this.#serve(service),
      ),
      objects.watch("endpointslices", (slice) => this.#follow(slice)),
    ];
  }

  async close(): Promise<void> {
    for (const end of this.#watches) end();
    const all = [...this.#served.values()].flatMap(({ ports }) => [...ports.values()]);
    for (const one of await Promise.allSettled(all)) {
      if (one.status === "fulfilled") one.value.abort();
    }
  }

  #follow({ metadata: { namespace = "", labels } }: EndpointSlice): void {
    const name = labels?.["kubernetes.io/service-name"] ?? "";
    const service = this.#objects.get("services", namespace, name);
    if (service !== null) this.#serve(service);
  }

  #serve(given: Service): void {
    const { metadata, spec } = given;
    if (spec.type === "ExternalName" || spec.clusterIP === "None") return;
    const served = this.#served.get(uidOf(given)) ?? this.#addressed(given);
    const slices = this.#objects
      .list("endpointslices", metadata.namespace ?? "")
      .filter(
        ({ metadata: { labels } }) => labels?.["kubernetes.io/service-name"] === metadata.name,
      );
    const wanted = new Map<string, readonly Target[]>();
    for (const { name = "", port, protocol = "TCP" } of spec.ports ?? []) {
      const targets = targetsOf(slices, name);
      if (protocol === "TCP" && targets.length > 0) wanted.set(`${name}:${port}`, targets);
    }
    for (const [key, targets] of wanted) this.#open(served, key, targets);
    for (const [key, forwarder] of served.ports) {
      if (wanted.has(key)) continue;
      served.ports.delete(key);
      void forwarder.then(
        (one) => one.close(),
        () => {},
      );
    }
  }

  #open({ address, ports }: Served, key: string, targets: readonly Target[]): void {
    const open = ports.get(key);
    if (open !== undefined) {
      void open.then(
        (one) => one.retarget(targets),
        () => {},
      );
      return;
    }
    const port = Number(key.split(":").at(-1));
    const opening = Forwarder.open(address, port, targets);
    ports.set(key, opening);
    opening.catch((error: unknown) => this.#problem(`${address}:${port}: ${String(error)}`));
  }

  #addressed(service: Service): Served {
    const served: Served = { address: service.spec.clusterIP ?? "", ports: new Map() };
    this.#served.set(uidOf(service), served);
    return served;
  }

  #forget(service: Service): void {
    const served = this.#served.get(uidOf(service));
    if (served === undefined) return;
    this.#served.delete(uidOf(service));
    this.#network.freeServiceAddress(served.address);
    for (const forwarder of served.ports.values()) {
      void forwarder.then(
        (one) => one.abort(),
        () => {},
      );
    }
  }
}

/**
 * Returns the ready endpoints, or, if there is none, those that end and still serve. Source: docs, "Virtual IPs and
 * Service Proxies" (traffic to terminating endpoints); KEP-1669.
 */
function targetsOf(slices: readonly EndpointSlice[], port: string): readonly Target[] {
  const targets = (takes: (conditions: Conditions) => boolean): readonly Target[] =>
    slices.flatMap(({ endpoints, ports }) => {
      const found = ports.find(({ name }) => name === port);
      if (found === undefined) return [];
      return endpoints
        .filter(({ conditions }) => takes(conditions))
        .flatMap(({ addresses }) => addresses.map((host) => ({ host, port: found.port })));
    });
  const ready = targets((one) => one.ready);
  return ready.length > 0 ? ready : targets((one) => one.serving && one.terminating);
}
