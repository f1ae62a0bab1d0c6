// Source: API reference, "PodSpec", "Volume"; docs, "Volumes", "Projected Volumes", "Pod Topology Spread Constraints",
// "Taints and Tolerations", "Configure a Security Context for a Pod or Container".
import { isDeepStrictEqual } from "node:util";
import type { Fields, KubeObject } from "../object-store.ts";
import { checkContainers, checkOneOf, checkSeccomp } from "./containers.ts";
import {
  checkAnnotations,
  checkDnsLabel,
  checkLabels,
  checkSelector,
  checkSubdomain,
  checkUnique,
} from "./names.ts";
import type { Report } from "./report.ts";

/** `claims` are volumes that the pods get from elsewhere, as those of a StatefulSet. */
export const checkPodSpec = (
  report: Report,
  path: string,
  spec: Fields | undefined,
  claims: readonly string[] = [],
): void => {
  if (!spec) {
    report.required(`${path}.containers`);
    return;
  }
  checkVolumes(report, `${path}.volumes`, spec.volumes ?? []);
  checkContainers(report, path, spec, claims);
  report.atLeast(`${path}.terminationGracePeriodSeconds`, spec.terminationGracePeriodSeconds, 0);
  report.atLeast(`${path}.activeDeadlineSeconds`, spec.activeDeadlineSeconds, 1);
  checkLabels(report, `${path}.nodeSelector`, spec.nodeSelector);
  if (spec.serviceAccountName)
    checkSubdomain(report, `${path}.serviceAccountName`, spec.serviceAccountName);
  for (const field of ["hostname", "subdomain"]) {
    if (spec[field]) checkDnsLabel(report, `${path}.${field}`, spec[field]);
  }
  const security: Fields = spec.securityContext ?? {};
  for (const field of ["runAsUser", "runAsGroup", "fsGroup"]) {
    report.atLeast(`${path}.securityContext.${field}`, security[field], 0);
  }
  if (security.seccompProfile)
    checkSeccomp(report, `${path}.securityContext.seccompProfile`, security.seccompProfile);
  checkTolerations(report, `${path}.tolerations`, spec.tolerations ?? []);
  checkSpread(report, `${path}.topologySpreadConstraints`, spec.topologySpreadConstraints ?? []);
  checkAffinity(report, `${path}.affinity`, spec.affinity ?? {});
};

export const checkTemplate = (
  report: Report,
  path: string,
  template: Fields | undefined,
  claims: readonly string[] = [],
): void => {
  checkLabels(report, `${path}.metadata.labels`, template?.metadata?.labels);
  checkAnnotations(report, `${path}.metadata.annotations`, template?.metadata?.annotations);
  checkPodSpec(report, `${path}.spec`, template?.spec, claims);
};

const checkVolumes = (report: Report, path: string, volumes: readonly Fields[]): void => {
  checkUnique(
    report,
    volumes.map(({ name }, index) => ({ field: `${path}[${index}].name`, value: name })),
  );
  volumes.forEach((volume, index) => {
    const there = `${path}[${index}]`;
    checkDnsLabel(report, `${there}.name`, volume.name);
    const sources = Object.keys(volume).filter((field) => field !== "name");
    if (sources.length === 0) report.required(there, "must specify a volume type");
    for (const source of sources.slice(1))
      report.forbidden(`${there}.${source}`, "may not specify more than 1 volume type");
    if (volume.secret && !volume.secret.secretName) report.required(`${there}.secret.secretName`);
    if (volume.configMap && !volume.configMap.name) report.required(`${there}.configMap.name`);
    if (volume.hostPath && !volume.hostPath.path) report.required(`${there}.hostPath.path`);
    if (volume.persistentVolumeClaim && !volume.persistentVolumeClaim.claimName) {
      report.required(`${there}.persistentVolumeClaim.claimName`);
    }
    for (const source of ["secret", "configMap", "downwardAPI", "projected"]) {
      const given: Fields | undefined = volume[source];
      if (!given) continue;
      checkMode(report, `${there}.${source}.defaultMode`, given.defaultMode);
      checkItems(report, `${there}.${source}.items`, given.items ?? []);
    }
    for (const [at, source] of ((volume.projected?.sources ?? []) as Fields[]).entries()) {
      const kinds = [
        "clusterTrustBundle",
        "configMap",
        "downwardAPI",
        "secret",
        "serviceAccountToken",
      ];
      checkOneOf(report, `${there}.projected.sources[${at}]`, source, kinds);
    }
  });
};

const checkMode = (report: Report, path: string, mode: number | undefined): void => {
  if (mode !== undefined && (mode < 0 || mode > 0o777)) {
    report.invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive");
  }
};

const checkItems = (report: Report, path: string, items: readonly Fields[]): void => {
  items.forEach(({ path: file, mode }, index) => {
    if (file?.startsWith("/"))
      report.invalid(`${path}[${index}].path`, file, "must be a relative path");
    if (file?.split("/").includes(".."))
      report.invalid(`${path}[${index}].path`, file, "must not contain '..'");
    checkMode(report, `${path}[${index}].mode`, mode);
  });
};

const checkTolerations = (report: Report, path: string, tolerations: readonly Fields[]): void => {
  tolerations.forEach(({ key, operator, value, effect, tolerationSeconds }, index) => {
    const there = `${path}[${index}]`;
    if (!key && operator !== "Exists")
      report.invalid(
        `${there}.operator`,
        operator ?? "",
        "operator must be Exists when `key` is empty",
      );
    if (operator === "Exists" && value)
      report.invalid(`${there}.operator`, value, "value must be empty when `operator` is 'Exists'");
    if (tolerationSeconds !== undefined && effect !== "NoExecute") {
      report.invalid(
        `${there}.effect`,
        effect,
        "effect must be 'NoExecute' when `tolerationSeconds` is set",
      );
    }
  });
};

const checkSpread = (report: Report, path: string, constraints: readonly Fields[]): void => {
  constraints.forEach(({ maxSkew, labelSelector }, index) => {
    if (maxSkew !== undefined && maxSkew <= 0)
      report.invalid(`${path}[${index}].maxSkew`, maxSkew, "must be greater than zero");
    checkSelector(report, `${path}[${index}].labelSelector`, labelSelector);
  });
};

const checkAffinity = (report: Report, path: string, affinity: Fields): void => {
  for (const kind of ["podAffinity", "podAntiAffinity"]) {
    const preferred = `${path}.${kind}.preferredDuringSchedulingIgnoredDuringExecution`;
    const list: Fields[] = affinity[kind]?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    list.forEach(({ weight, podAffinityTerm }, index) => {
      if (weight < 1 || weight > 100)
        report.invalid(`${preferred}[${index}].weight`, weight, "must be in the range 1-100");
      checkSelector(
        report,
        `${preferred}[${index}].podAffinityTerm.labelSelector`,
        podAffinityTerm?.labelSelector,
      );
    });
  }
};

/** Source: docs, "Pods" (pod update and replacement). */
export const checkPodUpdate = (report: Report, pod: KubeObject, old: KubeObject): void => {
  const rest = ({ spec }: KubeObject): unknown => ({
    ...spec,
    ...Object.fromEntries(
      ["containers", "initContainers"].map((list) => [
        list,
        ((spec[list] ?? []) as Fields[]).map((container) => ({ ...container, image: "" })),
      ]),
    ),
    activeDeadlineSeconds: null,
    tolerations: null,
    schedulingGates: null,
    terminationGracePeriodSeconds: null,
  });
  if (isDeepStrictEqual(rest(pod), rest(old))) return;
  report.forbidden(
    "spec",
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds`",
  );
};
