/**
 * The files of a pod that a node writes: its names and its resolver. Source: docs, "DNS for Services and Pods", "Adding
 * entries to Pod /etc/hosts with HostAliases".
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Pod } from "../controllers/kinds.ts";
import { hostnameOf } from "./environment.ts";

const domain = "cluster.local";

/** Writes them into the pod's folder. */
export function writePodFiles(folder: string, pod: Pod, podIP: string, resolver: string): void {
  mkdirSync(join(folder, "logs"), { recursive: true });
  mkdirSync(join(folder, "termination"), { recursive: true });
  writeFileSync(hostsFile(folder), hostsOf(pod, podIP));
  writeFileSync(resolverFile(folder), resolverOf(pod, resolver));
}

export const hostsFile = (folder: string): string => join(folder, "hosts");
export const resolverFile = (folder: string): string => join(folder, "resolv.conf");

export const logFile = (folder: string, container: string, attempt: number): string =>
  join(folder, "logs", `${container}-${attempt}.log`);

/** Any user of the container may write its last words. */
export function terminationFile(folder: string, container: string): string {
  const path = join(folder, "termination", container);
  writeFileSync(path, "", { flag: "a" });
  chmodSync(path, 0o666);
  return path;
}

function hostsOf(pod: Pod, podIP: string): string {
  const { subdomain, hostAliases = [] } = pod.spec;
  const hostname = hostnameOf(pod);
  const { namespace } = pod.metadata;
  const full =
    subdomain === undefined ? [] : [`${hostname}.${subdomain}.${namespace}.svc.${domain}`];
  const lines = [
    "# Kubernetes-managed hosts file.",
    "127.0.0.1\tlocalhost",
    "::1\tlocalhost ip6-localhost ip6-loopback",
    [podIP, ...full, hostname].join("\t"),
    ...hostAliases.map(({ ip, hostnames = [] }) => [ip, ...hostnames].join("\t")),
  ];
  return `${lines.join("\n")}\n`;
}

type DnsConfig = {
  readonly nameservers?: readonly string[];
  readonly searches?: readonly string[];
  readonly options?: readonly { readonly name?: string; readonly value?: string }[];
};

function resolverOf({ metadata, spec }: Pod, resolver: string): string {
  const { nameservers = [], searches = [], options = [] } = (spec["dnsConfig"] ?? {}) as DnsConfig;
  const isOwn = spec["dnsPolicy"] === "None";
  const own = [`${metadata.namespace}.svc.${domain}`, `svc.${domain}`, domain];
  const servers = isOwn ? nameservers : [resolver, ...nameservers];
  const given = options.map(({ name, value }) => (value === undefined ? name : `${name}:${value}`));
  const hasDots = options.some(({ name }) => name === "ndots");
  const flags = [...(isOwn || hasDots ? [] : ["ndots:5"]), ...given];
  const lines = [
    `search ${[...(isOwn ? [] : own), ...searches].join(" ")}`,
    ...servers.map((server) => `nameserver ${server}`),
    ...(flags.length === 0 ? [] : [`options ${flags.join(" ")}`]),
  ];
  return `${lines.join("\n")}\n`;
}
