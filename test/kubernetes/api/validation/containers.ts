// Containers of a pod. Source: API reference, "Container", "Probe", "EnvVar", "VolumeMount"; docs, "Resource Management
// for Pods and Containers", "Configure Liveness, Readiness and Startup Probes", "Sidecar Containers".
import type { Fields } from "../object-store.ts";
import {
  checkDnsLabel,
  checkEnvironmentName,
  checkPort,
  checkPortName,
  checkPortReference,
  checkQualifiedName,
  checkUnique,
} from "./names.ts";
import { nanoOf } from "./quantity.ts";
import type { Report } from "./report.ts";

export const checkContainers = (
  report: Report,
  path: string,
  spec: Fields,
  claims: readonly string[],
): void => {
  const own: string[] = (spec.volumes ?? []).map(({ name }: Fields) => name);
  const volumes = new Set([...own, ...claims]);
  const names: { field: string; value: unknown }[] = [];
  if ((spec.containers ?? []).length === 0) report.required(`${path}.containers`);
  for (const list of ["initContainers", "containers"]) {
    for (const [index, container] of ((spec[list] ?? []) as Fields[]).entries()) {
      const there = `${path}.${list}[${index}]`;
      names.push({ field: `${there}.name`, value: container.name });
      checkContainer(report, there, container, volumes);
      if (list === "initContainers") checkInitial(report, there, container);
      else if (container.restartPolicy)
        report.forbidden(`${there}.restartPolicy`, "may not be set for non-init containers");
    }
  }
  checkUnique(report, names);
};

const checkInitial = (report: Report, path: string, container: Fields): void => {
  if (container.restartPolicy === "Always") return;
  if (container.restartPolicy)
    report.unsupported(`${path}.restartPolicy`, container.restartPolicy, ["Always"]);
  for (const field of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"]) {
    if (container[field])
      report.forbidden(
        `${path}.${field}`,
        "may not be set for init containers without restartPolicy=Always",
      );
  }
};

const checkContainer = (
  report: Report,
  path: string,
  container: Fields,
  volumes: ReadonlySet<string>,
): void => {
  checkDnsLabel(report, `${path}.name`, container.name);
  if (!container.image) report.required(`${path}.image`);
  else if (container.image.trim() !== container.image) {
    report.invalid(
      `${path}.image`,
      container.image,
      "must not have leading or trailing whitespace",
    );
  }
  checkPorts(report, `${path}.ports`, container.ports ?? []);
  checkEnvironment(report, `${path}.env`, container.env ?? []);
  for (const [index, source] of ((container.envFrom ?? []) as Fields[]).entries()) {
    checkOneOf(report, `${path}.envFrom[${index}]`, source, ["configMapRef", "secretRef"]);
  }
  checkMounts(report, `${path}.volumeMounts`, container.volumeMounts ?? [], volumes);
  checkResources(report, `${path}.resources`, container.resources ?? {});
  for (const name of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    if (container[name]) checkProbe(report, `${path}.${name}`, container[name], name);
  }
  for (const name of ["postStart", "preStop"]) {
    const hook = container.lifecycle?.[name];
    if (hook)
      checkHandler(report, `${path}.lifecycle.${name}`, hook, [
        "exec",
        "httpGet",
        "tcpSocket",
        "sleep",
      ]);
  }
  checkSecurity(report, `${path}.securityContext`, container.securityContext ?? {});
};

const checkPorts = (report: Report, path: string, ports: readonly Fields[]): void => {
  checkUnique(
    report,
    ports.flatMap(({ name }, index) =>
      name ? [{ field: `${path}[${index}].name`, value: name }] : [],
    ),
  );
  ports.forEach(({ name, containerPort, hostPort }, index) => {
    if (name) checkPortName(report, `${path}[${index}].name`, name);
    if (containerPort === undefined) report.required(`${path}[${index}].containerPort`);
    else checkPort(report, `${path}[${index}].containerPort`, containerPort);
    if (hostPort) checkPort(report, `${path}[${index}].hostPort`, hostPort);
  });
};

const SOURCES = ["configMapKeyRef", "fieldRef", "resourceFieldRef", "secretKeyRef"];

const checkEnvironment = (report: Report, path: string, environment: readonly Fields[]): void => {
  environment.forEach(({ name, value, valueFrom }, index) => {
    const there = `${path}[${index}]`;
    checkEnvironmentName(report, `${there}.name`, name);
    if (!valueFrom) return;
    if (value)
      report.invalid(`${there}.valueFrom`, "", "may not be specified when `value` is not empty");
    checkOneOf(report, `${there}.valueFrom`, valueFrom, SOURCES);
  });
};

/** Exactly one of the fields is there. */
export const checkOneOf = (
  report: Report,
  path: string,
  value: Fields,
  fields: readonly string[],
): void => {
  const given = fields.filter((field) => value[field] !== undefined);
  if (given.length === 0)
    report.invalid(path, "", `must specify one of: \`${fields.join("`, `")}\``);
  else if (given.length > 1)
    report.invalid(path, "", "may not have more than one field specified at a time");
};

const checkMounts = (
  report: Report,
  path: string,
  mounts: readonly Fields[],
  volumes: ReadonlySet<string>,
): void => {
  const paths = new Set<string>();
  mounts.forEach(({ name, mountPath, subPath }, index) => {
    const there = `${path}[${index}]`;
    if (!name) report.required(`${there}.name`);
    else if (!volumes.has(name)) report.notFound(`${there}.name`, name);
    if (!mountPath) report.required(`${there}.mountPath`);
    else if (paths.has(mountPath))
      report.invalid(`${there}.mountPath`, mountPath, "must be unique");
    paths.add(mountPath);
    if (subPath?.startsWith("/"))
      report.invalid(`${there}.subPath`, subPath, "must be a relative path");
    if (subPath?.split("/").includes(".."))
      report.invalid(`${there}.subPath`, subPath, "must not contain '..'");
  });
};

const checkResources = (
  report: Report,
  path: string,
  { limits = {}, requests = {} }: Fields,
): void => {
  for (const [list, amounts] of Object.entries({ limits, requests })) {
    for (const [name, amount] of Object.entries(amounts as Record<string, string>)) {
      checkQualifiedName(report, `${path}.${list}`, name);
      if (nanoOf(amount) < 0n)
        report.invalid(`${path}.${list}[${name}]`, amount, "must be greater than or equal to 0");
      const isKnown =
        ["cpu", "memory", "ephemeral-storage"].includes(name) || /\/|^hugepages-/.test(name);
      if (!isKnown)
        report.invalid(
          `${path}.${list}[${name}]`,
          name,
          "must be a standard resource for containers",
        );
    }
  }
  for (const [name, amount] of Object.entries(requests as Record<string, string>)) {
    const limit: string | undefined = limits[name];
    if (limit !== undefined && nanoOf(amount) > nanoOf(limit)) {
      report.invalid(
        `${path}.requests`,
        amount,
        `must be less than or equal to ${name} limit of ${limit}`,
      );
    }
  }
};

const checkHandler = (
  report: Report,
  path: string,
  handler: Fields,
  kinds: readonly string[],
): void => {
  const given = kinds.filter((kind) => handler[kind] !== undefined);
  if (given.length === 0) report.required(path, "must specify a handler type");
  for (const kind of given.slice(1))
    report.forbidden(`${path}.${kind}`, "may not specify more than 1 handler type");
  const { exec, httpGet, tcpSocket, grpc } = handler;
  if (exec && (exec.command ?? []).length === 0) report.required(`${path}.exec.command`);
  if (httpGet) checkPortReference(report, `${path}.httpGet.port`, httpGet.port);
  if (tcpSocket) checkPortReference(report, `${path}.tcpSocket.port`, tcpSocket.port);
  if (grpc) checkPort(report, `${path}.grpc.port`, grpc.port ?? 0);
};

const checkProbe = (report: Report, path: string, probe: Fields, name: string): void => {
  checkHandler(report, path, probe, ["exec", "httpGet", "tcpSocket", "grpc"]);
  report.atLeast(`${path}.initialDelaySeconds`, probe.initialDelaySeconds, 0);
  for (const field of ["timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]) {
    report.atLeast(`${path}.${field}`, probe[field], 1);
  }
  if (name !== "readinessProbe" && probe.successThreshold > 1) {
    report.invalid(`${path}.successThreshold`, probe.successThreshold, "must be 1");
  }
  if (name === "readinessProbe" && probe.terminationGracePeriodSeconds !== undefined) {
    report.invalid(
      `${path}.terminationGracePeriodSeconds`,
      probe.terminationGracePeriodSeconds,
      "must not be set for readinessProbes",
    );
  }
};

const checkSecurity = (report: Report, path: string, security: Fields): void => {
  report.atLeast(`${path}.runAsUser`, security.runAsUser, 0);
  report.atLeast(`${path}.runAsGroup`, security.runAsGroup, 0);
  if (security.allowPrivilegeEscalation === false && security.privileged) {
    report.invalid(
      path,
      security,
      "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
    );
  }
  if (security.seccompProfile)
    checkSeccomp(report, `${path}.seccompProfile`, security.seccompProfile);
};

export const checkSeccomp = (
  report: Report,
  path: string,
  { type, localhostProfile }: Fields,
): void => {
  if (!type) report.required(`${path}.type`);
  if (type === "Localhost" && !localhostProfile) {
    report.required(`${path}.localhostProfile`, "must be set when seccomp type is Localhost");
  }
};
