// Users may do what Roles and ClusterRoles and their bindings allow; nothing else allows, and nothing denies. Only
// members of system:masters may do all. Source: docs, "Using RBAC Authorization" (referring to resources, privilege
// escalation prevention), "Authorization".
import { ApiFault, forbidden } from "../fault.ts";
import type { KubeObject } from "../object-store.ts";
import type { Resource } from "../resources.ts";
import type { MemoryStore } from "../store/memory-store.ts";
import type { User } from "./authenticate.ts";

export type Attributes = {
  verb: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string | null;
  name: string | null;
};

type Rule = {
  verbs?: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
};
type Subject = { kind: string; name: string; namespace?: string };

export class Authorizer {
  readonly #store: MemoryStore;

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  allows(user: User, attributes: Attributes): boolean {
    if (user.groups.includes("system:masters")) return true;
    return this.rules(user, attributes.namespace).some((rule) => ruleAllows(rule, attributes));
  }

  allowsPath(user: User, verb: string, path: string): boolean {
    if (user.groups.includes("system:masters")) return true;
    return this.rules(user, null).some(
      ({ verbs = [], nonResourceURLs = [] }) =>
        has(verbs, verb) &&
        nonResourceURLs.some((url) =>
          url.endsWith("*") ? path.startsWith(url.slice(0, -1)) : url === path,
        ),
    );
  }

  /** Throws the 403 of a real server. */
  check(user: User, resource: Resource, attributes: Attributes): void {
    if (this.allows(user, attributes)) return;
    const { verb, group, subresource, namespace, name } = attributes;
    const what = subresource === "" ? attributes.resource : `${attributes.resource}/${subresource}`;
    const scope = namespace === null ? "at the cluster scope" : `in the namespace "${namespace}"`;
    throw forbidden(
      resource,
      name ?? "",
      `User "${user.name}" cannot ${verb} resource "${what}" in API group "${group}" ${scope}`,
    );
  }

  /** A user may grant only what he may do himself, unless he may "escalate" roles or "bind" them. */
  checkGrant(user: User, resource: Resource, object: KubeObject): void {
    const isBinding = resource.kind.endsWith("Binding");
    if (!resource.group.startsWith("rbac.") || user.groups.includes("system:masters")) return;
    const namespace = object.metadata.namespace ?? null;
    const { group } = resource;
    const target = isBinding ? rolePlural(object.roleRef?.kind) : resource.plural;
    const name: string = isBinding ? (object.roleRef?.name ?? "") : object.metadata.name;
    const verb = isBinding ? "bind" : "escalate";
    if (this.allows(user, { verb, group, resource: target, subresource: "", namespace, name }))
      return;
    const rules = isBinding
      ? this.#rulesOf(object.roleRef, namespace)
      : ((object.rules ?? []) as Rule[]);
    const missing = rules.filter((rule) => !this.#covers(user, rule, namespace));
    if (missing.length === 0) return;
    const list = missing.map((rule) => describe(rule)).join("\n");
    throw forbidden(
      resource,
      object.metadata.name,
      `user "${user.name}" (groups=${JSON.stringify(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${list}`,
    );
  }

  #covers(user: User, rule: Rule, namespace: string | null): boolean {
    const names = rule.resourceNames?.length ? rule.resourceNames : [null];
    return (rule.verbs ?? []).every((verb) =>
      (rule.apiGroups ?? []).every((group) =>
        (rule.resources ?? []).every((text) => {
          const [resource = "", subresource = ""] = text.split("/");
          return names.every((name) =>
            this.allows(user, { verb, group, resource, subresource, namespace, name }),
          );
        }),
      ),
    );
  }

  /** The rules of a user in a namespace, or those of the whole cluster. */
  rules(user: User, namespace: string | null): Rule[] {
    const everything = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };
    if (user.groups.includes("system:masters")) return [everything];
    const bindings = [
      ...this.#store.list("clusterrolebindings", null),
      ...(namespace === null ? [] : this.#store.list("rolebindings", namespace)),
    ];
    return bindings
      .filter(({ subjects, metadata }) =>
        ((subjects ?? []) as Subject[]).some((subject) =>
          isSubject(subject, user, metadata.namespace),
        ),
      )
      .flatMap(({ roleRef, metadata }) => this.#rulesOf(roleRef, metadata.namespace ?? null));
  }

  #rulesOf(roleRef: KubeObject["roleRef"], namespace: string | null): Rule[] {
    const plural = rolePlural(roleRef?.kind);
    const role = this.#store.get(
      plural,
      plural === "roles" ? namespace : null,
      roleRef?.name ?? "",
    );
    return (role?.rules ?? []) as Rule[];
  }
}

const rolePlural = (kind: string): string => (kind === "ClusterRole" ? "clusterroles" : "roles");

const has = (list: readonly string[], value: string): boolean =>
  list.includes("*") || list.includes(value);

const ruleAllows = (
  rule: Rule,
  { verb, group, resource, subresource, name }: Attributes,
): boolean => {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [] } = rule;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  const matches =
    has(resources, full) || (subresource !== "" && resources.includes(`*/${subresource}`));
  if (!matches || !has(verbs, verb) || !has(apiGroups, group)) return false;
  return resourceNames.length === 0 || (name !== null && resourceNames.includes(name));
};

const isSubject = (subject: Subject, user: User, bindingNamespace: string | undefined): boolean => {
  if (subject.kind === "User") return subject.name === user.name;
  if (subject.kind === "Group") return user.groups.includes(subject.name);
  const namespace = subject.namespace ?? bindingNamespace;
  return user.name === `system:serviceaccount:${namespace}:${subject.name}`;
};

const describe = ({
  apiGroups = [],
  resources = [],
  resourceNames = [],
  verbs = [],
}: Rule): string => {
  const parts = [
    `APIGroups:${JSON.stringify(apiGroups)}`,
    `Resources:${JSON.stringify(resources)}`,
    ...(resourceNames.length > 0 ? [`ResourceNames:${JSON.stringify(resourceNames)}`] : []),
    `Verbs:${JSON.stringify(verbs)}`,
  ];
  return `{${parts.join(", ")}}`;
};

export const refusePath = (user: User, verb: string, path: string): ApiFault =>
  new ApiFault(403, "Forbidden", `forbidden: User "${user.name}" cannot ${verb} path "${path}"`);
