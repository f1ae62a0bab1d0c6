// Source: API reference, "Secret", "ConfigMap", "PodDisruptionBudget", "Role", "RoleBinding", "PersistentVolumeClaim";
// docs, "Secrets", "ConfigMaps", "Specifying a Disruption Budget for your Application", "Using RBAC Authorization".
import { isDeepStrictEqual } from "node:util";
import type { Fields, KubeObject } from "../object-store.ts";
import { checkDataKey, checkSelector } from "./names.ts";
import type { Report } from "./report.ts";

const DATA_MAX = 1024 * 1024;

/** Keys that a type of secret must have. Source: docs, "Secrets" (types of Secret). */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
};

export const checkData = (report: Report, object: KubeObject, old: KubeObject | null): void => {
  const parts = ["data", "binaryData"] as const;
  let size = 0;
  for (const part of parts) {
    for (const [key, value] of Object.entries((object[part] ?? {}) as Record<string, string>)) {
      checkDataKey(report, `${part}[${key}]`, key);
      const isEncoded = object.kind === "Secret" || part === "binaryData";
      size += isEncoded ? Buffer.from(value, "base64").length : Buffer.byteLength(value);
    }
  }
  for (const key of Object.keys(object.binaryData ?? {})) {
    if (Object.hasOwn(object.data ?? {}, key))
      report.invalid(`data[${key}]`, key, "duplicate of key present in binaryData");
  }
  if (size > DATA_MAX) report.tooLong("data", DATA_MAX);
  for (const key of KEYS[object.type ?? ""] ?? []) {
    if (object.data?.[key] === undefined) report.required(`data[${key}]`);
  }
  if (!old) return;
  if (object.kind === "Secret" && object.type !== old.type)
    report.invalid("type", object.type, "field is immutable");
  if (!old.immutable) return;
  if (!object.immutable)
    report.forbidden("immutable", "field is immutable when `immutable` is set");
  for (const part of parts) {
    if (!isDeepStrictEqual(object[part], old[part]))
      report.forbidden(part, "field is immutable when `immutable` is set");
  }
};

export const checkBudget = (report: Report, { spec }: KubeObject): void => {
  const { minAvailable, maxUnavailable, selector } = spec ?? {};
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    report.invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set");
  }
  for (const [field, value] of Object.entries({ minAvailable, maxUnavailable })) {
    if (typeof value === "number") report.atLeast(`spec.${field}`, value, 0);
    else if (value !== undefined && !/^\d+%$/.test(value)) {
      report.invalid(
        `spec.${field}`,
        value,
        "a valid percent string must be a numeric string followed by an ending '%'",
      );
    } else if (value !== undefined && Number.parseInt(value, 10) > 100) {
      report.invalid(`spec.${field}`, value, "must not be greater than 100%");
    }
  }
  checkSelector(report, "spec.selector", selector);
};

export const checkRole = (report: Report, { kind, rules }: KubeObject): void => {
  for (const [index, rule] of ((rules ?? []) as Fields[]).entries()) {
    const there = `rules[${index}]`;
    if ((rule.verbs ?? []).length === 0)
      report.required(`${there}.verbs`, "verbs must contain at least one value");
    if ((rule.nonResourceURLs ?? []).length > 0) {
      if (kind === "Role") {
        const why = "namespaced rules cannot apply to non-resource URLs";
        report.invalid(`${there}.nonResourceURLs`, rule.nonResourceURLs, why);
      }
      continue;
    }
    if ((rule.apiGroups ?? []).length === 0) {
      report.required(`${there}.apiGroups`, "resource rules must supply at least one api group");
    }
    if ((rule.resources ?? []).length === 0) {
      report.required(`${there}.resources`, "resource rules must supply at least one resource");
    }
  }
};

const RBAC = "rbac.authorization.k8s.io";

export const checkBinding = (report: Report, object: KubeObject, old: KubeObject | null): void => {
  const { roleRef = {}, subjects = [], kind } = object;
  if (roleRef.apiGroup !== RBAC)
    report.unsupported("roleRef.apiGroup", roleRef.apiGroup ?? "", [RBAC]);
  const roles = kind === "RoleBinding" ? ["Role", "ClusterRole"] : ["ClusterRole"];
  if (!roles.includes(roleRef.kind)) report.unsupported("roleRef.kind", roleRef.kind ?? "", roles);
  if (!roleRef.name) report.required("roleRef.name");
  for (const [index, subject] of (subjects as Fields[]).entries()) {
    const there = `subjects[${index}]`;
    if (!subject.name) report.required(`${there}.name`);
    if (!["ServiceAccount", "User", "Group"].includes(subject.kind)) {
      report.unsupported(`${there}.kind`, subject.kind ?? "", ["ServiceAccount", "User", "Group"]);
    } else if (subject.kind === "ServiceAccount") {
      if (subject.apiGroup) report.unsupported(`${there}.apiGroup`, subject.apiGroup, [""]);
      if (!subject.namespace) report.required(`${there}.namespace`);
    } else if (subject.apiGroup !== RBAC)
      report.unsupported(`${there}.apiGroup`, subject.apiGroup, [RBAC]);
  }
  if (old && !isDeepStrictEqual(roleRef, old.roleRef))
    report.invalid("roleRef", roleRef, "cannot change roleRef");
};

export const checkClaimUpdate = (report: Report, { spec }: KubeObject, old: KubeObject): void => {
  const rest = (fields: Fields): unknown => ({ ...fields, resources: null, volumeName: null });
  if (isDeepStrictEqual(rest(spec), rest(old.spec))) return;
  report.forbidden(
    "spec",
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
  );
};
