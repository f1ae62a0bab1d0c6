// Lists what the server has: groups, versions and resources. Source: docs, "Kubernetes API Concepts" and "The
// Kubernetes API" (discovery API: aggregated and unaggregated).
import { apiVersionOf, type Resource } from "../resources.ts";
import { SCALED } from "./subresources.ts";

type Subresource = {
  name: string;
  kind: { group: string; version: string; kind: string };
  verbs: readonly string[];
};

const ALL = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const CHANGE = ["get", "patch", "update"];

export const verbsOf = ({ kind, virtual }: Resource): readonly string[] => {
  if (virtual) return ["create"];
  return kind === "Namespace" ? ALL.filter((verb) => verb !== "deletecollection") : ALL;
};

export const subresourcesOf = (resource: Resource): readonly Subresource[] => {
  const { group, version, kind, plural } = resource;
  const own = { group, version, kind };
  const found: Subresource[] = [];
  if (plural === "pods") {
    found.push(
      { name: "binding", kind: { group: "", version: "v1", kind: "Binding" }, verbs: ["create"] },
      {
        name: "eviction",
        kind: { group: "policy", version: "v1", kind: "Eviction" },
        verbs: ["create"],
      },
      { name: "log", kind: own, verbs: ["get"] },
    );
  }
  if (SCALED.includes(plural)) {
    found.push({
      name: "scale",
      kind: { group: "autoscaling", version: "v1", kind: "Scale" },
      verbs: CHANGE,
    });
  }
  if (resource.status) found.push({ name: "status", kind: own, verbs: CHANGE });
  if (plural === "serviceaccounts") {
    const token = { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" };
    found.push({ name: "token", kind: token, verbs: ["create"] });
  }
  return found;
};

const groupsOf = (resources: readonly Resource[]): Map<string, Resource[]> => {
  const groups = new Map<string, Resource[]>();
  for (const resource of resources) {
    groups.set(resource.group, [...(groups.get(resource.group) ?? []), resource]);
  }
  return groups;
};

const namesOf = ({ shortNames, all }: Resource): object => ({
  ...(shortNames.length > 0 ? { shortNames } : {}),
  ...(all ? { categories: ["all"] } : {}),
});

/** The answer of /api has the core group alone, that of /apis the others. */
export const aggregated = (resources: readonly Resource[], core: boolean): unknown => {
  const groups = [...groupsOf(resources)].filter(([group]) => (group === "") === core);
  const items = groups.map(([group, members]) => ({
    metadata: { name: group, creationTimestamp: null },
    versions: [
      {
        version: "v1",
        freshness: "Current",
        resources: members.map((resource) => ({
          resource: resource.plural,
          responseKind: { group, version: resource.version, kind: resource.kind },
          scope: resource.namespaced ? "Namespaced" : "Cluster",
          singularResource: resource.singular,
          verbs: verbsOf(resource),
          ...namesOf(resource),
          subresources: subresourcesOf(resource).map(({ name, kind, verbs }) => ({
            subresource: name,
            responseKind: kind,
            verbs,
          })),
        })),
      },
    ],
  }));
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items,
  };
};

export const coreVersions = (address: string): unknown => ({
  kind: "APIVersions",
  versions: ["v1"],
  serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: address }],
});

const groupOf = (group: string): object => {
  const version = { groupVersion: `${group}/v1`, version: "v1" };
  return { name: group, versions: [version], preferredVersion: version };
};

export const groupList = (resources: readonly Resource[]): unknown => ({
  kind: "APIGroupList",
  apiVersion: "v1",
  groups: [...groupsOf(resources).keys()].filter((group) => group !== "").map(groupOf),
});

/** Null for a group that the server lacks. */
export const oneGroup = (resources: readonly Resource[], group: string): unknown =>
  resources.some((resource) => resource.group === group)
    ? { kind: "APIGroup", apiVersion: "v1", ...groupOf(group) }
    : null;

export const resourceList = (
  resources: readonly Resource[],
  group: string,
  version: string,
): unknown => {
  const members = resources.filter(
    (resource) => resource.group === group && resource.version === version,
  );
  const [first] = members;
  if (!first) return null;
  const rows = members.flatMap((resource) => [
    {
      name: resource.plural,
      singularName: resource.singular,
      namespaced: resource.namespaced,
      kind: resource.kind,
      verbs: verbsOf(resource),
      ...namesOf(resource),
    },
    ...subresourcesOf(resource).map(({ name, kind, verbs }) => ({
      name: `${resource.plural}/${name}`,
      singularName: "",
      namespaced: resource.namespaced,
      ...(kind.group === group ? {} : { group: kind.group, version: kind.version }),
      kind: kind.kind,
      verbs,
    })),
  ]);
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: apiVersionOf(first),
    resources: rows,
  };
};
