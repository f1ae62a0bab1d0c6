// Source: API reference, "Deployment", "ReplicaSet", "StatefulSet", "Job"; docs, "Deployments", "StatefulSets", "Jobs".
import { isDeepStrictEqual } from "node:util";
import type { Fields, KubeObject } from "../object-store.ts";
import { checkDnsLabel, checkSelector, isSelected } from "./names.ts";
import { checkTemplate } from "./pods.ts";
import type { Report } from "./report.ts";

export const checkWorkload = (report: Report, { kind, spec }: KubeObject): void => {
  if (!spec) {
    report.required("spec");
    return;
  }
  if (kind !== "Job") checkReplicated(report, spec);
  if (kind === "Deployment") checkStrategy(report, spec);
  if (kind === "StatefulSet") checkStatefulSet(report, spec);
  if (kind === "Job") checkJob(report, spec);
};

const checkReplicated = (report: Report, spec: Fields): void => {
  report.atLeast("spec.replicas", spec.replicas, 0);
  report.atLeast("spec.minReadySeconds", spec.minReadySeconds, 0);
  report.atLeast("spec.revisionHistoryLimit", spec.revisionHistoryLimit, 0);
  const { selector, template } = spec;
  const isEmpty =
    Object.keys(selector?.matchLabels ?? {}).length + (selector?.matchExpressions ?? []).length ===
    0;
  if (!selector) report.required("spec.selector");
  else if (isEmpty)
    report.invalid("spec.selector", selector, "empty selector is invalid for deployment");
  checkSelector(report, "spec.selector", selector);
  const labels: Fields = template?.metadata?.labels ?? {};
  if (selector && !isEmpty && !isSelected(selector, labels)) {
    report.invalid(
      "spec.template.metadata.labels",
      labels,
      "`selector` does not match template `labels`",
    );
  }
  // A real server checks the pods of a StatefulSet only when they are made; here a mistake is refused at once.
  const claims: string[] = (spec.volumeClaimTemplates ?? []).map(
    ({ metadata }: Fields) => metadata?.name,
  );
  checkTemplate(report, "spec.template", template, claims);
  const policy = template?.spec?.restartPolicy;
  if (policy && policy !== "Always")
    report.unsupported("spec.template.spec.restartPolicy", policy, ["Always"]);
  if (template?.spec?.activeDeadlineSeconds !== undefined) {
    report.forbidden(
      "spec.template.spec.activeDeadlineSeconds",
      "activeDeadlineSeconds in ReplicaSet is not Supported",
    );
  }
};

const checkAmount = (report: Report, field: string, value: number | string | undefined): void => {
  if (typeof value === "number") report.atLeast(field, value, 0);
  else if (value !== undefined && !/^\d+%$/.test(value)) {
    report.invalid(
      field,
      value,
      "a valid percent string must be a numeric string followed by an ending '%'",
    );
  }
};

const isZero = (value: unknown): boolean => value === 0 || value === "0%";

const checkStrategy = (report: Report, spec: Fields): void => {
  const { type, rollingUpdate } = spec.strategy ?? {};
  if (type === "Recreate" && rollingUpdate) {
    report.forbidden(
      "spec.strategy.rollingUpdate",
      "may not be specified when strategy `type` is 'Recreate'",
    );
  }
  if (type === "RollingUpdate" && rollingUpdate) {
    const path = "spec.strategy.rollingUpdate";
    checkAmount(report, `${path}.maxUnavailable`, rollingUpdate.maxUnavailable);
    checkAmount(report, `${path}.maxSurge`, rollingUpdate.maxSurge);
    if (isZero(rollingUpdate.maxUnavailable) && isZero(rollingUpdate.maxSurge)) {
      report.invalid(
        `${path}.maxUnavailable`,
        rollingUpdate.maxUnavailable,
        "may not be 0 when `maxSurge` is 0",
      );
    }
  }
  const deadline = spec.progressDeadlineSeconds;
  if (deadline !== undefined && deadline <= (spec.minReadySeconds ?? 0)) {
    report.invalid(
      "spec.progressDeadlineSeconds",
      deadline,
      "must be greater than minReadySeconds",
    );
  }
};

const checkStatefulSet = (report: Report, spec: Fields): void => {
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  if (type === "OnDelete" && rollingUpdate) {
    report.invalid(
      "spec.updateStrategy.rollingUpdate",
      rollingUpdate,
      "only allowed for updateStrategy 'RollingUpdate'",
    );
  }
  report.atLeast("spec.updateStrategy.rollingUpdate.partition", rollingUpdate?.partition, 0);
  if (spec.serviceName) checkDnsLabel(report, "spec.serviceName", spec.serviceName);
  for (const [index, claim] of ((spec.volumeClaimTemplates ?? []) as Fields[]).entries()) {
    const path = `spec.volumeClaimTemplates[${index}]`;
    checkDnsLabel(report, `${path}.metadata.name`, claim.metadata?.name);
    checkClaim(report, `${path}.spec`, claim.spec);
  }
};

/** Source: docs, "Persistent Volumes" (PersistentVolumeClaims). */
export const checkClaim = (report: Report, path: string, spec: Fields | undefined): void => {
  if ((spec?.accessModes ?? []).length === 0)
    report.required(`${path}.accessModes`, "at least 1 access mode is required");
  if (!spec?.resources?.requests?.storage) report.required(`${path}.resources[storage]`);
};

const checkJob = (report: Report, spec: Fields): void => {
  for (const field of [
    "parallelism",
    "completions",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "activeDeadlineSeconds",
  ]) {
    report.atLeast(`spec.${field}`, spec[field], 0);
  }
  if (spec.completionMode === "Indexed" && spec.completions === undefined) {
    report.required("spec.completions", "when completion mode is Indexed");
  }
  checkTemplate(report, "spec.template", spec.template);
  const labels: Fields = spec.template?.metadata?.labels ?? {};
  if (!isSelected(spec.selector, labels)) {
    report.invalid(
      "spec.template.metadata.labels",
      labels,
      "`selector` does not match template `labels`",
    );
  }
  const policy = spec.template?.spec?.restartPolicy;
  if (policy === "Always") {
    report.required("spec.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"');
  }
};

const IMMUTABLE = "field is immutable";

/** Changes that a running workload cannot follow. */
export const checkWorkloadUpdate = (report: Report, object: KubeObject, old: KubeObject): void => {
  const spec: Fields = object.spec ?? {};
  const before: Fields = old.spec ?? {};
  const keeps = (field: string): void => {
    if (!isDeepStrictEqual(spec[field], before[field]))
      report.invalid(`spec.${field}`, spec[field], IMMUTABLE);
  };
  if (object.kind === "Deployment" || object.kind === "ReplicaSet") keeps("selector");
  if (object.kind === "Job") {
    for (const field of ["completions", "selector", "completionMode"]) keeps(field);
    // The template of a suspended job may still get other places to run on.
    if (!before.suspend) keeps("template");
  }
  if (object.kind !== "StatefulSet") return;
  const changeable = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
  ];
  const rest = (fields: Fields): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([field]) => !changeable.includes(field)));
  if (isDeepStrictEqual(rest(spec), rest(before))) return;
  report.forbidden(
    "spec",
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
  );
};
