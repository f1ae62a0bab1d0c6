/** The chart from one release to the next: what changes, and in which order. */
import { expect, test } from "vitest";
import { needHelm } from "../programs.ts";
import { required } from "./cases.ts";
import { manifestsOf, release, template } from "./helm.ts";
import { type Labels, type Manifest, named, ofKind, podsOf, type Workload } from "./manifests.ts";

const objectsWith = async (values: object): Promise<readonly Manifest[]> =>
  manifestsOf(await template({ values: { ...required, agents: { a: { slots: 1 } }, ...values } }));

/** Returns the components whose pods two releases describe differently. */
function changed(before: readonly Manifest[], after: readonly Manifest[]): readonly string[] {
  const described = (objects: readonly Manifest[]) =>
    new Map(
      podsOf(objects).map((pod) => [
        pod.component,
        JSON.stringify(pod.spec) + JSON.stringify(pod.labels),
      ]),
    );
  const [old, now] = [described(before), described(after)];
  return [...now].flatMap(([name, text]) => (old.get(name) === text ? [] : [name]));
}

test("a changed tag of one service changes the pods of no other", async ({ skip }) => {
  needHelm(skip);
  const before = await objectsWith({});
  const after = await objectsWith({ services: { gateway: { image: { tag: "0.1.1" } } } });
  expect(changed(before, after)).toEqual(["gateway"]);
  const replicas = await objectsWith({ services: { scheduler: { replicas: 2 } } });
  // Several replicas spread over nodes.
  expect(changed(before, replicas)).toEqual(["scheduler"]);
});

test("`stopped` stops the services and leaves the agents, and changes no pod", async ({ skip }) => {
  needHelm(skip);
  const before = await objectsWith({});
  const after = await objectsWith({ stopped: true });
  expect(changed(before, after)).toEqual([]);
  // A chart whose migration is due could otherwise not stop the services for it.
  const migrate = named(after, "Job", "ty-migrate");
  expect(migrate.metadata.annotations?.["helm.sh/hook"]).toBe("pre-rollback");
  expect(
    new Set(ofKind(after, "Deployment").map(({ spec }) => (spec as Workload).replicas)),
  ).toEqual(new Set([0]));
  expect(ofKind(after, "StatefulSet")).toEqual(ofKind(before, "StatefulSet"));
  const [agents] = ofKind(after, "StatefulSet");
  expect(agents?.spec).toMatchObject({ updateStrategy: { type: "OnDelete" } });
});

test("before an install come the rights of the Job of keys, then that Job, then migrate; a failed one stays readable", async ({
  skip,
}) => {
  needHelm(skip);
  const hooks = (await objectsWith({}))
    .filter(({ metadata }) => metadata.annotations?.["helm.sh/hook"]?.includes("pre-install"))
    .sort((a, b) => weightOf(a) - weightOf(b));
  expect(hooks.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    "ServiceAccount ty-keys",
    "Role ty-keys",
    "RoleBinding ty-keys",
    "Job ty-keys",
    "Job ty-migrate",
  ]);
  const [, , , keys, migrate] = hooks.map(({ metadata }) => metadata.annotations?.["helm.sh/hook"]);
  expect(keys).toBe("pre-install,pre-upgrade");
  expect(migrate).toBe("pre-install,pre-upgrade,pre-rollback");
  for (const { metadata } of hooks) {
    const policies = metadata.annotations?.["helm.sh/hook-delete-policy"]?.split(",");
    // Without hook-failed.
    expect(policies).toEqual(["before-hook-creation", "hook-succeeded"]);
  }
});

const weightOf = ({ metadata }: Manifest): number =>
  Number(metadata.annotations?.["helm.sh/hook-weight"]);

test("the Job of keys may create secrets and get the one that it makes, and nothing more", async ({
  skip,
}) => {
  needHelm(skip);
  const objects = await objectsWith({});
  expect(ofKind(objects, "Role").map(({ rules }) => rules)).toEqual([
    [
      { apiGroups: [""], resources: ["secrets"], verbs: ["get"], resourceNames: ["ty-keys"] },
      { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
    ],
  ]);
  const job = podsOf(objects).find(({ component }) => component === "keys");
  expect(job?.container).toMatchObject({
    args: [
      "keys",
      "--with=run-token-key,first-token,postgres",
      "--label=app.kubernetes.io/name=trainyard",
      `--label=app.kubernetes.io/instance=${release}`,
    ],
  });
  const given = await objectsWith({ keys: { existingSecret: "keys" } });
  expect(podsOf(given).find(({ component }) => component === "keys")?.container).toMatchObject({
    args: expect.arrayContaining(["--with=postgres"]) as unknown,
  });
  const { postgres } = required;
  const all = { keys: { existingSecret: "k" }, postgres: { ...postgres, existingSecret: "p" } };
  expect(ofKind(await objectsWith(all), "Role")).toEqual([]);
});

type Monitor = { readonly selector: { readonly matchLabels: Labels } };

test("a ServiceMonitor is there where it is wanted and the cluster has the kind, and leads to every pod with metrics", async ({
  skip,
}) => {
  needHelm(skip);
  const values = { ...required, serviceMonitor: { enabled: true }, agents: { a: { slots: 1 } } };
  const kinds = ["monitoring.coreos.com/v1/ServiceMonitor"];
  expect(ofKind(manifestsOf(await template({ values })), "ServiceMonitor")).toEqual([]);
  const objects = manifestsOf(await template({ values, kinds }));
  const { selector } = named(objects, "ServiceMonitor", release).spec as Monitor;
  const wanted = Object.entries(selector.matchLabels);
  const found = ofKind(objects, "Service").filter(({ metadata }) =>
    wanted.every(([key, value]) => metadata.labels[key] === value),
  );
  const components = podsOf(objects).filter(({ container }) => container.ports !== undefined);
  expect(
    found.map(({ metadata }) => metadata.labels["app.kubernetes.io/component"]).sort(),
  ).toEqual(components.map(({ component }) => component).sort());
});

type Named = { readonly name: string };
type Backend = { readonly service: { readonly name: string; readonly port: Named } };
/** The specification of an Ingress. */
type Ways = {
  readonly rules: readonly {
    readonly host: string;
    readonly http: { readonly paths: readonly { readonly backend: Backend }[] };
  }[];
  readonly tls: readonly { readonly hosts: readonly string[]; readonly secretName: string }[];
};

test("every route leads to a port of a Service, with its certificate", async ({ skip }) => {
  needHelm(skip);
  const route = (host: string) => ({ host, tlsSecret: `${host.split(".")[0]}-tls` });
  const objects = await objectsWith({
    taskDomain: "tasks.example.net",
    ingress: {
      enabled: true,
      api: route("api.example.org"),
      grpc: route("grpc.example.org"),
      metrics: route("metrics.example.org"),
      metricsGrpc: route("points.example.org"),
      tasks: { tlsSecret: "wildcard-tls" },
    },
  });
  const routes = ofKind(objects, "Ingress").map(({ spec }) => {
    const { rules, tls } = spec as Ways;
    const [rule] = rules;
    const { name = "", port } = rule?.http.paths[0]?.backend.service ?? {};
    const { ports } = named(objects, "Service", name).spec as { readonly ports: readonly Named[] };
    expect(ports.map((one) => one.name)).toContain(port?.name);
    expect(tls[0]?.hosts).toEqual([rule?.host]);
    return [rule?.host, name, port?.name, tls[0]?.secretName];
  });
  expect(routes).toEqual([
    ["api.example.org", "ty-gateway", "http", "api-tls"],
    ["grpc.example.org", "ty-gateway", "grpc", "grpc-tls"],
    ["metrics.example.org", "ty-metrics", "http", "metrics-tls"],
    ["points.example.org", "ty-metrics", "grpc", "points-tls"],
    ["*.tasks.example.net", "ty-gateway", "http", "wildcard-tls"],
  ]);
});
