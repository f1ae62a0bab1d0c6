/**
 * Sends requests to receivers, and guards the platform's own network from what a person names as one: before a byte is
 * sent, the address of the connected socket must be public, or in a network that the operator allows. A check of names
 * would miss literal addresses, and names that change their address. Refused addresses of a name are not connected to
 * either, since the errors would say which ports are open. Redirects are not followed.
 */
import { lookup as lookUp } from "node:dns";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Clock } from "@trainyard/kernel";
import { feedsLimits } from "../../../limits.ts";
import { type Addresses, literalOf } from "./addresses.ts";
import { urlProblem } from "./check-url.ts";
import type { Answer, OutgoingRequest, Sender } from "./sender.ts";

export type SenderSettings = {
  readonly addresses: Addresses;
  /** The HTTP proxy through which all requests leave, which then decides about addresses; null without one. */
  readonly proxy: URL | null;
  readonly clock: Clock;
  /** The certificates that may sign those of receivers, for tests; by default the public authorities. */
  readonly authorities?: string;
  /** The names of receivers, for tests; by default those of this host. */
  readonly lookup?: typeof lookUp;
  readonly timeoutMs?: number;
};

class Refused extends Error {}

const refusals = {
  address:
    "the host has an address that events are not sent to: an operator may add its network to TRAINYARD_FEEDS_ALLOWED_NETWORKS",
  http: "http is for networks in TRAINYARD_FEEDS_ALLOWED_NETWORKS: the URL must begin with https://",
  httpByProxy:
    "behind an egress proxy, http is for addresses in TRAINYARD_FEEDS_ALLOWED_NETWORKS: the URL must begin with https://",
} as const;

/** The facts about the connection of a request. */
type Connection = { isPrivate: boolean };

export class GuardedSender implements Sender {
  readonly #settings: SenderSettings;

  constructor(settings: SenderSettings) {
    this.#settings = settings;
  }

  async send(outgoing: OutgoingRequest, signal: AbortSignal): Promise<Answer> {
    const { addresses, clock, timeoutMs = feedsLimits.webhookAnswerMs } = this.#settings;
    const startMs = clock.monotonicMs();
    const answered = (answer: Omit<Answer, "tookMs">): Answer => ({
      ...answer,
      tookMs: Math.round(clock.monotonicMs() - startMs),
    });
    const problem = urlProblem(addresses, outgoing.url);
    if (problem !== null) return answered({ error: problem, answer: "", isPrivate: false });
    const deadline = AbortSignal.timeout(timeoutMs);
    const connection: Connection = { isPrivate: false };
    try {
      const ending = AbortSignal.any([signal, deadline]);
      const response = await this.#ask(outgoing, connection, ending);
      const text = await beginningOf(response);
      const retryAfterMs = retryAfterOf(response, clock.nowMs());
      return answered({
        status: response.statusCode ?? 0,
        error: "",
        // An answer of the private network is nothing that a person with a token may read.
        answer: connection.isPrivate ? "" : text,
        ...(retryAfterMs === null ? {} : { retryAfterMs }),
        isPrivate: connection.isPrivate,
      });
    } catch (error) {
      const reason = deadline.aborted
        ? `there was no answer within ${Math.round(timeoutMs / 1_000)} s`
        : sentenceOf(error);
      return answered({ error: reason, answer: "", isPrivate: connection.isPrivate });
    }
  }

  async #ask(
    { url, headers, body }: OutgoingRequest,
    connection: Connection,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const target = new URL(url);
    const isSecure = target.protocol === "https:";
    const socket = await this.#connect(target, connection, signal);
    const payload = Buffer.from(body);
    const asking = (isSecure ? httpsRequest : httpRequest)(target, {
      method: "POST",
      signal,
      // An agent, even `agent: false`, would not use this socket but open another one, whose address nobody checks.
      createConnection: () => socket,
      headers: {
        ...headers,
        "user-agent": "Trainyard",
        "content-length": String(payload.byteLength),
        connection: "close",
      },
    });
    asking.on("error", ignored);
    asking.end(payload);
    try {
      const [response] = (await once(asking, "response", { signal })) as [IncomingMessage];
      return response;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  /** Opens the connection, and refuses it before anything is sent. */
  async #connect(target: URL, connection: Connection, signal: AbortSignal): Promise<Socket> {
    const { proxy } = this.#settings;
    const isSecure = target.protocol === "https:";
    const host = literalOf(target.hostname) ?? target.hostname;
    const port = target.port === "" ? (isSecure ? 443 : 80) : Number(target.port);
    if (proxy !== null) {
      // The proxy may reach private networks, so nobody can tell whose answer it is.
      connection.isPrivate = true;
      if (!isSecure && literalOf(target.hostname) === null) throw new Refused(refusals.httpByProxy);
    }
    const plain =
      proxy === null
        ? await this.#direct(host, port, isSecure, connection, signal)
        : await tunnelled(proxy, target.hostname, port, signal);
    if (!isSecure) return plain;
    const { authorities } = this.#settings;
    const servername = literalOf(target.hostname) === null ? { servername: host } : { host };
    const ca = authorities === undefined ? {} : { ca: authorities };
    const secured = connectTls({ socket: plain, ...servername, ...ca });
    return opened(secured, "secureConnect", signal);
  }

  async #direct(
    host: string,
    port: number,
    isSecure: boolean,
    connection: Connection,
    signal: AbortSignal,
  ): Promise<Socket> {
    const lookup = this.#lookup(isSecure);
    const socket = await opened(connect({ host, port, lookup }), "connect", signal);
    const address = socket.remoteAddress ?? "";
    const problem = this.#problemOf(address, isSecure);
    if (problem !== null) {
      socket.destroy();
      throw new Refused(problem);
    }
    connection.isPrivate = this.#settings.addresses.kindOf(address) === "allowed";
    return socket;
  }

  /** Looks up the addresses of a name, without those that are refused. */
  #lookup(isSecure: boolean): LookupFunction {
    const { lookup = lookUp } = this.#settings;
    return (name, options, done) => {
      lookup(name, { ...options, all: true }, (error, found) => {
        if (error !== null) {
          done(error, []);
          return;
        }
        const problems = found.map(({ address }) => this.#problemOf(address, isSecure));
        const [first, ...others] = found.filter((_, i) => problems[i] === null);
        if (first === undefined) done(new Refused(problems[0] ?? refusals.address), []);
        else if (options.all === true) done(null, [first, ...others]);
        else done(null, first.address, first.family);
      });
    };
  }

  /** Returns why nothing may be sent to an address, in one sentence; null if it may. */
  #problemOf(address: string, isSecure: boolean): string | null {
    const kind = this.#settings.addresses.kindOf(address);
    if (kind === null) return refusals.address;
    return kind === "public" && !isSecure ? refusals.http : null;
  }
}

/** An error is seen where it is waited for; one after the answer changes nothing, and must not end the process. */
const ignored = (): void => {};

async function opened(socket: Socket, event: string, signal: AbortSignal): Promise<Socket> {
  try {
    await once(socket, event, { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Opens a tunnel through an HTTP proxy (CONNECT). */
async function tunnelled(
  proxy: URL,
  host: string,
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  const { username, password } = proxy;
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  const asking = httpRequest({
    host: proxy.hostname,
    port: proxy.port === "" ? 80 : proxy.port,
    method: "CONNECT",
    path: `${host}:${port}`,
    signal,
    agent: false,
    headers: username === "" ? {} : { "proxy-authorization": `Basic ${login.toString("base64")}` },
  });
  asking.on("error", ignored);
  asking.end();
  const [response, socket] = (await once(asking, "connect", { signal })) as [
    IncomingMessage,
    Socket,
  ];
  if (response.statusCode === 200) return socket;
  socket.destroy();
  throw new Refused(`the egress proxy answered ${response.statusCode}`);
}

/** Returns the beginning of the answer's body. The rest is not read. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const { webhookAnswerBytesMax: most } = feedsLimits;
  let bytes = Buffer.alloc(0);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes = Buffer.concat([bytes, chunk]);
      if (bytes.byteLength >= most) break;
    }
  } catch {
    // The status has arrived: a body that breaks off, or does not end in time, changes nothing.
  } finally {
    response.destroy();
  }
  return bytes.subarray(0, most).toString("utf8").replaceAll("\0", "");
}

/** Returns the wait that the receiver asks for (RFC 9110, 10.2.3); null for none. */
function retryAfterOf({ headers }: IncomingMessage, nowMs: number): number | null {
  const text = headers["retry-after"] ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

function sentenceOf(error: unknown): string {
  if (error instanceof Refused) return error.message;
  if (error instanceof AggregateError) return sentenceOf(error.errors[0]);
  // Messages of Node name addresses of the network, and places in the source of OpenSSL.
  const { code = "" } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return `the connection failed${code === "" ? "" : `: ${code}`}`;
}
