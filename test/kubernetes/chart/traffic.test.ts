/**
 * Connections between pods: the table of the chart against the settings of the programs, and the NetworkPolicies
 * against the table. Source: docs, "Network Policies": a connection needs a rule at both of its ends; pods that no
 * policy selects accept and open all; the rules of all policies add up; no list of peers or ports means every one.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { needHelm } from "../programs.ts";
import { chart } from "./helm.ts";
import { type Labels, named, ofKind, type Pod, podsOf } from "./manifests.ts";
import { objectsOf } from "./rendered.ts";
import { parsers, settingsOf } from "./settings.ts";

type Table = {
  readonly pods: Readonly<Record<string, readonly string[]>>;
  readonly others: Readonly<Record<string, readonly string[]>>;
};
const table = parse(readFileSync(join(chart, "files/traffic.yaml"), "utf8")) as Table;
const everything = "everything once";

/** The places to which a setting leads. */
const leads: readonly (readonly [RegExp, string])[] = [
  [/^TRAINYARD_POSTGRES_URL$/, "postgres"],
  [/^TRAINYARD_NATS_URL$/, "nats"],
  [/^TRAINYARD_STORAGE_REGION$/, "storage"],
  [/^TRAINYARD_REDIS_URL$/, "redis"],
  [/^TRAINYARD_GATEWAY_PEER_URL$/, "gateway:http"],
  [/^TRAINYARD_API_URL$/, "gateway:http"],
  [/^TRAINYARD_METRICS_URL$/, "metrics:http"],
  [/^TRAINYARD_AGENT_ADDRESS$/, "agents:*"],
  [/^TRAINYARD_OIDC_PROVIDERS$/, "identity"],
  [/^TRAINYARD_FEEDS_KAFKA_/, "anywhere"],
  [/^TRAINYARD_FEEDS_PROXY$/, "anywhere"],
  [/^OTEL_EXPORTER_OTLP_ENDPOINT$/, "traces"],
];
/** The places that a row has for another reason than a setting. */
const unset: Readonly<Record<string, readonly string[]>> = {
  // Signed addresses of code and checkpoints, and what training code fetches.
  agents: ["storage", "anywhere"],
};

test.for([...parsers.keys()])(
  "the row of %s has the places to which its settings lead, and no others",
  (program) => {
    const settings = [...settingsOf(program)];
    const wanted = new Set([
      ...leads.flatMap(([setting, place]) =>
        settings.some((one) => setting.test(one)) ? [place] : [],
      ),
      ...(unset[program] ?? []),
    ]);
    // Any address includes the collector of traces.
    if (wanted.has("anywhere")) wanted.delete("traces");
    expect([...(table.pods[program] ?? [])].sort()).toEqual([...wanted].sort());
  },
);

type Port = { readonly protocol: string; readonly port: string | number };
type Peer = { readonly podSelector?: { readonly matchLabels: Labels } };
type IngressRule = { readonly from?: readonly Peer[]; readonly ports?: readonly Port[] };
type EgressRule = { readonly to?: readonly Peer[]; readonly ports?: readonly Port[] };
type Policy = {
  readonly podSelector: { readonly matchLabels: Labels };
  readonly ingress: readonly IngressRule[];
  readonly egress: readonly EgressRule[];
};

const selects = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);
const matches = (peers: readonly Peer[] | undefined, pod: Pod): boolean =>
  peers === undefined ||
  peers.some(
    ({ podSelector }) => podSelector !== undefined && selects(podSelector.matchLabels, pod.labels),
  );
const opens = (ports: readonly Port[] | undefined, port: string): boolean =>
  ports === undefined || ports.some((one) => one.port === port);

/** Returns whether the policies let a pod connect to a port of another one. */
function allows(policies: readonly Policy[], from: Pod, to: Pod, port: string): boolean {
  const of = (pod: Pod) =>
    policies.filter((one) => selects(one.podSelector.matchLabels, pod.labels));
  const leaves =
    of(from).length === 0 ||
    of(from).some(({ egress }) =>
      egress.some((rule) => matches(rule.to, to) && opens(rule.ports, port)),
    );
  const enters =
    of(to).length === 0 ||
    of(to).some(({ ingress }) =>
      ingress.some((rule) => matches(rule.from, from) && opens(rule.ports, port)),
    );
  return leaves && enters;
}

const rowOf = (pod: Pod): string => (pod.isAgent ? "agents" : pod.component);

test("pods reach exactly the ports of others that the table names", async ({ skip }) => {
  needHelm(skip);
  const objects = await objectsOf(everything);
  const policies = ofKind(objects, "NetworkPolicy").map(({ spec }) => spec as Policy);
  const pods = podsOf(objects).filter((pod) => table.pods[rowOf(pod)] !== undefined);
  expect(pods.length).toBe(13);
  let allowed = 0;
  for (const from of pods) {
    for (const to of pods) {
      for (const port of ["http", "grpc", "29500"]) {
        const named = (table.pods[rowOf(from)] ?? []).some((place) =>
          [`${rowOf(to)}:${port}`, `${rowOf(to)}:*`].includes(place),
        );
        const pair = `${from.component} to ${port} of ${to.component}`;
        expect([pair, allows(policies, from, to, port)]).toEqual([pair, named]);
        allowed += named ? 1 : 0;
      }
    }
  }
  // Gateways among themselves, the test, each set of agents to gateway and metrics, and the sets among themselves.
  expect(allowed).toBe(1 + 1 + 2 * 2 + 3 * 4);
});

test("servers outside of the chart are reached at their ports and peers only", async ({ skip }) => {
  needHelm(skip);
  const egress = async (name: string, service: string) => {
    const policy = named(await objectsOf(name), "NetworkPolicy", `ty-${service}`);
    return (policy.spec as Policy).egress;
  };
  const portsOf = (rules: readonly EgressRule[]) =>
    rules.flatMap(({ ports = [] }) => ports.map(({ port }) => port));
  const least = [53, 53, 5432, 4222, 443, 80, 988, 4318];
  expect(portsOf(await egress("the least", "registry"))).toEqual(least);
  const own = "secrets and images of one's own, on the oldest Kubernetes";
  expect(portsOf(await egress(own, "registry"))).toEqual([53, 53, 6432, 4222, 9000, 4318]);
  expect(portsOf(await egress("the least", "gateway"))).not.toContain(6379);
  expect(portsOf(await egress(everything, "gateway"))).toEqual(
    expect.arrayContaining([6380, 8443]),
  );
  const rules = await egress(everything, "relay");
  expect(portsOf(rules)).toEqual([53, 53, 5432, 4222, 4222, 4317]);
  expect(rules.slice(1).every(({ to = [] }) => to.length === 2)).toBe(true);
});

test("services without a secret of the bucket reach the addresses at which clouds give pods and nodes credentials", async ({
  skip,
}) => {
  needHelm(skip);
  const metadata = [{ ipBlock: { cidr: "169.254.0.0/16" } }];
  const reaching = async (name: string) =>
    ofKind(await objectsOf(name), "NetworkPolicy")
      .filter(({ spec }) =>
        (spec as Policy).egress.some(({ to }) => isDeepStrictEqual(to, metadata)),
      )
      .map((policy) => policy.metadata.name);
  expect(await reaching("the least")).toEqual(["ty-checkpoint-gc", "ty-gateway", "ty-registry"]);
  expect(await reaching("secrets and images of one's own, on the oldest Kubernetes")).toEqual([]);
});

test("from outside of the chart, gateway and metrics are open to ingress controllers, and only /metrics of others", async ({
  skip,
}) => {
  needHelm(skip);
  for (const { metadata, spec } of ofKind(await objectsOf("the least"), "NetworkPolicy")) {
    const open = (spec as Policy).ingress.filter(({ from }) => from === undefined);
    const ports = new Set(open.flatMap((rule) => rule.ports?.map(({ port }) => port)));
    const isDoor = ["ty-gateway", "ty-metrics"].includes(metadata.name);
    if (metadata.name === "ty-test") expect([...ports]).toEqual([]);
    else expect([...ports].sort()).toEqual(isDoor ? ["grpc", "http"] : ["http"]);
  }
});
