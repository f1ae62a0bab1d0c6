// The roles of a new cluster that every user needs. Source: docs, "Using RBAC Authorization" (default roles and
// bindings).
import type { KubeObject } from "../object-store.ts";
import type { MemoryStore } from "../store/memory-store.ts";

const GROUP = "rbac.authorization.k8s.io";

const role = (name: string, rules: object[]): KubeObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: "ClusterRole",
  metadata: { name, labels: { "kubernetes.io/bootstrapping": "rbac-defaults" } },
  rules,
});

const binding = (name: string, groups: readonly string[]): KubeObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: "ClusterRoleBinding",
  metadata: { name, labels: { "kubernetes.io/bootstrapping": "rbac-defaults" } },
  roleRef: { apiGroup: GROUP, kind: "ClusterRole", name },
  subjects: groups.map((group) => ({ apiGroup: GROUP, kind: "Group", name: group })),
});

const HEALTH = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

export const createDefaultRoles = (store: MemoryStore): void => {
  const all = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };
  const reviews = {
    apiGroups: ["authentication.k8s.io", "authorization.k8s.io"],
    resources: ["selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"],
    verbs: ["create"],
  };
  const paths = ["/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", ...HEALTH];
  const roles: readonly [string, object[], string[]][] = [
    ["cluster-admin", [all, { nonResourceURLs: ["*"], verbs: ["*"] }], ["system:masters"]],
    ["system:basic-user", [reviews], ["system:authenticated"]],
    ["system:discovery", [{ nonResourceURLs: paths, verbs: ["get"] }], ["system:authenticated"]],
    [
      "system:public-info-viewer",
      [{ nonResourceURLs: HEALTH, verbs: ["get"] }],
      ["system:authenticated", "system:unauthenticated"],
    ],
  ];
  for (const [name, rules, groups] of roles) {
    store.create("clusterroles", role(name, rules));
    store.create("clusterrolebindings", binding(name, groups));
  }
};
