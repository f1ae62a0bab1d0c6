// Source: API reference, "Service", "Ingress", "NetworkPolicy"; docs, "Service", "Ingress", "Network Policies".
import { isIP } from "node:net";
import type { Fields, KubeObject } from "../object-store.ts";
import {
  checkDnsLabel,
  checkLabels,
  checkPort,
  checkPortName,
  checkPortReference,
  checkSelector,
  checkSubdomain,
  checkUnique,
  isDnsSubdomain,
} from "./names.ts";
import type { Report } from "./report.ts";

export const checkService = (
  report: Report,
  { spec }: KubeObject,
  old: KubeObject | null,
): void => {
  const ports: Fields[] = spec.ports ?? [];
  const isHeadless = spec.clusterIP === "None";
  if (ports.length === 0 && !isHeadless && spec.type !== "ExternalName")
    report.required("spec.ports");
  if (spec.type === "ExternalName") checkSubdomain(report, "spec.externalName", spec.externalName);
  checkLabels(report, "spec.selector", spec.selector);
  checkUnique(
    report,
    ports.flatMap(({ name }, index) =>
      name ? [{ field: `spec.ports[${index}].name`, value: name }] : [],
    ),
  );
  const addresses = ports.map(({ port, protocol }, index) => ({
    field: `spec.ports[${index}]`,
    value: `${port}/${protocol}`,
  }));
  checkUnique(report, addresses);
  ports.forEach(({ name, port, targetPort, nodePort }, index) => {
    const there = `spec.ports[${index}]`;
    if (!name && ports.length > 1) report.required(`${there}.name`);
    if (name) checkDnsLabel(report, `${there}.name`, name);
    checkPort(report, `${there}.port`, port ?? 0);
    if (targetPort !== undefined) checkPortReference(report, `${there}.targetPort`, targetPort);
    if (nodePort && spec.type === "ClusterIP") {
      report.forbidden(`${there}.nodePort`, "may not be used when `type` is 'ClusterIP'");
    }
  });
  if (spec.clusterIP && !isHeadless && isIP(spec.clusterIP) === 0) {
    report.invalid(
      "spec.clusterIPs[0]",
      spec.clusterIP,
      "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
    );
  }
  const before = old?.spec.clusterIP;
  if (
    before &&
    spec.clusterIP !== before &&
    old?.spec.type !== "ExternalName" &&
    spec.type !== "ExternalName"
  ) {
    report.invalid("spec.clusterIPs[0]", [spec.clusterIP], "may not change once set");
  }
};

export const checkIngress = (report: Report, { spec }: KubeObject): void => {
  const rules: Fields[] = spec?.rules ?? [];
  if (rules.length === 0 && !spec?.defaultBackend) {
    report.invalid("spec", spec ?? {}, "either `defaultBackend` or `rules` must be specified");
  }
  if (spec?.defaultBackend) checkBackend(report, "spec.defaultBackend", spec.defaultBackend);
  rules.forEach(({ host, http }, index) => {
    if (host) checkHost(report, `spec.rules[${index}].host`, host);
    const paths: Fields[] = http?.paths ?? [];
    if (http && paths.length === 0) report.required(`spec.rules[${index}].http.paths`);
    paths.forEach(({ path, pathType, backend }, at) => {
      const there = `spec.rules[${index}].http.paths[${at}]`;
      if (!pathType) report.required(`${there}.pathType`, "pathType must be specified");
      if (pathType !== "ImplementationSpecific" && !path?.startsWith("/")) {
        report.invalid(`${there}.path`, path ?? "", "must be an absolute path");
      }
      checkBackend(report, `${there}.backend`, backend ?? {});
    });
  });
  for (const [index, { hosts = [] }] of ((spec?.tls ?? []) as Fields[]).entries()) {
    (hosts as string[]).forEach((host, at) => {
      checkHost(report, `spec.tls[${index}].hosts[${at}]`, host);
    });
  }
};

const checkHost = (report: Report, field: string, host: string): void => {
  const name = host.startsWith("*.") ? host.slice(2) : host;
  if (isIP(host) !== 0) report.invalid(field, host, "must be a DNS name, not an IP address");
  else if (!isDnsSubdomain(name))
    report.invalid(field, host, "a lowercase RFC 1123 subdomain, which may begin with '*.'");
};

const checkBackend = (report: Report, path: string, { service, resource }: Fields): void => {
  if (!service && !resource) report.required(path, "service or resource must be specified");
  if (!service) return;
  if (!service.name) report.required(`${path}.service.name`);
  const { name, number } = service.port ?? {};
  if (name && number) report.invalid(path, "", "cannot set both port name & port number");
  else if (!name && !number) report.required(path, "port name or number is required");
  if (name) checkPortName(report, `${path}.service.port.name`, name);
  if (number) checkPort(report, `${path}.service.port.number`, number);
};

export const checkNetworkPolicy = (report: Report, { spec }: KubeObject): void => {
  checkSelector(report, "spec.podSelector", spec?.podSelector);
  for (const [list, peers] of [
    ["ingress", "from"],
    ["egress", "to"],
  ] as const) {
    for (const [index, rule] of ((spec?.[list] ?? []) as Fields[]).entries()) {
      const there = `spec.${list}[${index}]`;
      for (const [at, { port, endPort }] of ((rule.ports ?? []) as Fields[]).entries()) {
        if (port !== undefined) checkPortReference(report, `${there}.ports[${at}].port`, port);
        if (endPort !== undefined && (typeof port !== "number" || endPort < port)) {
          report.invalid(
            `${there}.ports[${at}].endPort`,
            endPort,
            "must be greater than or equal to `port`",
          );
        }
      }
      for (const [at, peer] of ((rule[peers] ?? []) as Fields[]).entries()) {
        checkPeer(report, `${there}.${peers}[${at}]`, peer);
      }
    }
  }
};

const isCidr = (text: string): boolean => {
  const [address = "", bits = ""] = text.split("/");
  const size = isIP(address) === 4 ? 32 : 128;
  return isIP(address) !== 0 && /^\d+$/.test(bits) && Number(bits) <= size;
};

const checkPeer = (
  report: Report,
  path: string,
  { ipBlock, podSelector, namespaceSelector }: Fields,
): void => {
  if (!ipBlock && !podSelector && !namespaceSelector) report.required(path, "must specify a peer");
  if (ipBlock && (podSelector || namespaceSelector))
    report.forbidden(path, "may not specify both ipBlock and another peer");
  checkSelector(report, `${path}.podSelector`, podSelector);
  checkSelector(report, `${path}.namespaceSelector`, namespaceSelector);
  if (ipBlock && !isCidr(ipBlock.cidr ?? ""))
    report.invalid(`${path}.ipBlock.cidr`, ipBlock.cidr ?? "", "must be a valid CIDR value");
  for (const [index, range] of ((ipBlock?.except ?? []) as string[]).entries()) {
    if (!isCidr(range))
      report.invalid(`${path}.ipBlock.except[${index}]`, range, "must be a valid CIDR value");
  }
};
