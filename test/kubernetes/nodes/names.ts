/**
 * The cluster's DNS server, on the bridge: the names of Services and of their pods, and of hosts outside that a test
 * exposes. Answers follow the store. Source: docs, "DNS for Services and Pods"; specification "Kubernetes DNS-Based
 * Service Discovery" (A, SRV and CNAME records; no AAAA and PTR here).
 */
import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { type Answer, decode, encode, type Question } from "dns-packet";
import type { EndpointSlice, Objects, Service } from "../controllers/kinds.ts";

const port = 53;
const domain = "cluster.local";
const ttl = 5;

type Found = { readonly exists: boolean; readonly answers: readonly Answer[] };
const none: Found = { exists: false, answers: [] };

export type NameServer = { close(): Promise<void> };

/** `hosts` has the addresses of names outside of the cluster; it may change later. */
export async function serveNames(
  address: string,
  objects: Objects,
  hosts: ReadonlyMap<string, string>,
): Promise<NameServer> {
  const socket = createSocket("udp4");
  socket.on("message", (message: Buffer, from: RemoteInfo) => {
    const reply = replyTo(message, objects, hosts);
    if (reply !== null) socket.send(reply, from.port, from.address, () => {});
  });
  // A resolver that is gone answers with an error, which concerns no other.
  const listening = once(socket, "listening");
  socket.bind(port, address);
  await listening;
  socket.on("error", () => {});
  return {
    close: async () => {
      const closed = once(socket, "close");
      socket.close();
      await closed;
    },
  };
}

function replyTo(
  message: Buffer,
  objects: Objects,
  hosts: ReadonlyMap<string, string>,
): Buffer | null {
  try {
    const { id, questions = [], flags = 0 } = decode(message);
    const [question] = questions;
    if (question === undefined) return null;
    const { exists, answers } = resolved(question, objects, hosts);
    const recursion = flags & 0x100;
    const code = exists ? 0 : 3;
    return encode({
      type: "response",
      id: id ?? 0,
      flags: 0x480 | recursion | code,
      questions: [question],
      answers: [...answers],
    });
  } catch {
    // A message that is none of DNS gets no answer.
    return null;
  }
}

function resolved(
  { name: asked, type }: Question,
  objects: Objects,
  hosts: ReadonlyMap<string, string>,
): Found {
  const name = asked.toLowerCase().replace(/\.$/, "");
  const outside = hosts.get(name);
  const a = (data: string): Answer => ({ type: "A", name: asked, ttl, data });
  if (outside !== undefined) return { exists: true, answers: type === "A" ? [a(outside)] : [] };
  const found = /^(?:(.+)\.)?([^.]+)\.([^.]+)\.svc\.cluster\.local$/.exec(name);
  if (found === null) return none;
  const [, before = "", serviceName = "", namespace = ""] = found;
  const service = objects.get("services", namespace, serviceName);
  if (service === null) return none;
  const slices = slicesOf(objects, service);
  if (before.startsWith("_")) return portsOf(asked, type, before, service, slices);
  const { clusterIP = "", type: kind, externalName } = service.spec;
  if (kind === "ExternalName" && before === "") {
    const data = externalName ?? "";
    const chased = hosts.get(data);
    const target: readonly Answer[] =
      chased === undefined || type !== "A" ? [] : [{ type: "A", name: data, ttl, data: chased }];
    return { exists: true, answers: [{ type: "CNAME", name: asked, ttl, data }, ...target] };
  }
  const addresses = before === "" && clusterIP !== "None" ? [clusterIP] : podsOf(slices, before);
  if (addresses.length === 0) return before === "" ? { exists: true, answers: [] } : none;
  return { exists: true, answers: type === "A" ? addresses.map(a) : [] };
}

function slicesOf(objects: Objects, { metadata }: Service): readonly EndpointSlice[] {
  return objects
    .list("endpointslices", metadata.namespace ?? "")
    .filter((one) => one.metadata.labels?.["kubernetes.io/service-name"] === metadata.name);
}

/** Returns the addresses of ready pods; a name of a pod is its host name, or its address with dashes. */
function podsOf(slices: readonly EndpointSlice[], pod: string): readonly string[] {
  const endpoints = slices.flatMap((slice) => slice.endpoints);
  const named = endpoints.filter(
    ({ hostname, addresses }) =>
      pod === "" || hostname === pod || addresses[0]?.replaceAll(".", "-") === pod,
  );
  const addresses = named
    .filter(({ conditions }) => conditions.ready)
    .flatMap((one) => one.addresses);
  return [...new Set(addresses)];
}

/** _PORT._PROTOCOL.SERVICE… */
function portsOf(
  asked: string,
  type: Question["type"],
  before: string,
  { metadata, spec }: Service,
  slices: readonly EndpointSlice[],
): Found {
  const [name, protocol] = before.split(".").map((label) => label.slice(1));
  const found = (spec.ports ?? []).find(
    (one) => one.name === name && (one.protocol ?? "TCP").toLowerCase() === protocol,
  );
  if (found === undefined) return none;
  const full = `${metadata.name}.${metadata.namespace}.svc.${domain}`;
  const srv = (target: string, at: number): Answer => ({
    type: "SRV",
    name: asked,
    ttl,
    data: { priority: 0, weight: 100, port: at, target },
  });
  if (type !== "SRV") return { exists: true, answers: [] };
  if (spec.clusterIP !== "None") return { exists: true, answers: [srv(full, found.port)] };
  const answers = slices.flatMap(({ endpoints, ports }) => {
    const at = ports.find((one) => one.name === name)?.port ?? found.port;
    const ready = endpoints.filter(({ conditions }) => conditions.ready);
    return ready.map(({ hostname, addresses }) =>
      srv(`${hostname ?? addresses[0]?.replaceAll(".", "-")}.${full}`, at),
    );
  });
  return { exists: true, answers };
}
