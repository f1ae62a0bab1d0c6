/**
 * One try of a probe or of a lifecycle hook. Source: docs, "Configure Liveness, Readiness and Startup Probes",
 * "Container Lifecycle Hooks".
 */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { setTimeout as after } from "node:timers/promises";
import { credentials, makeGenericClientConstructor } from "@grpc/grpc-js";
import { service as health } from "grpc-health-check";
import type { Container, Handler, HttpGet } from "../controllers/pod-kinds.ts";
import type { PodmanApi } from "./podman-api.ts";

export type Tried = { readonly ok: boolean; readonly message: string };

export type ProbeTarget = {
  readonly podman: PodmanApi;
  readonly podIP: string;
  readonly container: Container;
  readonly id: string;
};

const bodyCharsMax = 10_240;

/** Never rejects: what fails is the answer. */
export async function tried(
  handler: Handler,
  target: ProbeTarget,
  timeoutMs: number,
): Promise<Tried> {
  const signal = AbortSignal.timeout(Math.ceil(timeoutMs));
  try {
    return await once(handler, target, signal, timeoutMs);
  } catch (error) {
    const why = signal.aborted ? "context deadline exceeded" : (error as Error).message;
    return { ok: false, message: why };
  }
}

async function once(
  { httpGet, tcpSocket, exec, grpc, sleep }: Handler,
  { podman, podIP, container, id }: ProbeTarget,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Tried> {
  if (httpGet !== undefined) {
    const port = portOf(httpGet.port, container);
    return await got(httpGet, httpGet.host || podIP, port, signal);
  }
  if (tcpSocket !== undefined) {
    const port = portOf(tcpSocket.port, container);
    await connected(tcpSocket.host || podIP, port, signal);
    return { ok: true, message: "" };
  }
  if (exec !== undefined) {
    const { code, output } = await podman.exec(id, exec.command ?? [], signal);
    return { ok: code === 0, message: output.slice(0, bodyCharsMax) };
  }
  if (grpc !== undefined)
    return await healthOf(`${podIP}:${grpc.port}`, grpc.service ?? "", timeoutMs);
  if (sleep !== undefined) await after(sleep.seconds * 1_000, undefined, { signal });
  return { ok: true, message: "" };
}

function portOf(port: number | string, { ports = [], name }: Container): number {
  if (typeof port === "number") return port;
  const found = ports.find((one) => one.name === port)?.containerPort;
  if (found === undefined) throw new Error(`couldn't find port: ${port} in container ${name}`);
  return found;
}

/** A status from 200 to 399 is a success. Redirections are not followed. */
async function got(
  { path = "/", scheme = "HTTP", httpHeaders = [] }: HttpGet,
  host: string,
  port: number,
  signal: AbortSignal,
): Promise<Tried> {
  const given = Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value]));
  const headers = { "user-agent": "kube-probe/1.33", accept: "*/*", ...given };
  const full = { host, port, path, headers, signal, agent: false, rejectUnauthorized: false };
  const request = scheme === "HTTPS" ? httpsRequest : httpRequest;
  const status = await new Promise<number>((resolve, reject) => {
    request(full, (answer) => {
      answer.on("error", reject).on("end", () => resolve(answer.statusCode ?? 0));
      answer.resume();
    })
      .on("error", reject)
      .end();
  });
  const ok = status >= 200 && status < 400;
  return { ok, message: ok ? "" : `HTTP probe failed with statuscode: ${status}` };
}

async function connected(host: string, port: number, signal: AbortSignal): Promise<void> {
  const socket = connect({ host, port, signal });
  try {
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  } finally {
    socket.destroy();
  }
}

const HealthClient = makeGenericClientConstructor(health, "Health");

type Checked = { status?: string | number };
type Check = (
  request: object,
  options: object,
  done: (error: Error | null, answer?: Checked) => void,
) => void;

async function healthOf(address: string, service: string, timeoutMs: number): Promise<Tried> {
  const client = new HealthClient(address, credentials.createInsecure());
  try {
    const check = (client as unknown as { check: Check }).check.bind(client);
    const { status } = await new Promise<Checked>((resolve, reject) => {
      check({ service }, { deadline: Date.now() + timeoutMs }, (error, answer) =>
        error === null ? resolve(answer ?? {}) : reject(error),
      );
    });
    const ok = status === "SERVING" || status === 1;
    return { ok, message: ok ? "" : `service unhealthy (responded with "${status}")` };
  } finally {
    client.close();
  }
}
