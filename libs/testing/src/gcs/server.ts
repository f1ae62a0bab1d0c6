/**
 * A fake Google Cloud Storage for tests, on 127.0.0.1: objects of the JSON API, resumable uploads, and signed addresses
 * of the XML API. It refuses the same as the real store: wrong tokens, signatures, times, digests, sizes,
 * preconditions. Tests can command failures. Its objects are deleted with it.
 *
 * It lacks versions, access lists, bucket settings, compose, batches, and expiring sessions.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Bodies } from "../http/bodies.ts";
import { breakOff, CommandedFailures, slow } from "../http/commanded.ts";
import { Port } from "../http/port.ts";
import { sendAnswer } from "../http/send.ts";
import {
  type GcsAccount,
  type GcsAction,
  type GcsUser,
  newAccount,
  userOf,
  userOfToken,
  userOfUrl,
} from "./authorise.ts";
import { GcsError, noBucket } from "./errors.ts";
import { deleteObject, getObject, insertObject, listObjects, rewriteObject } from "./objects.ts";
import type { GcsAnswer, GcsLimits, GcsRequest } from "./request.ts";
import { beginSession, continueSession } from "./resumable.ts";
import { type GcsRoute, routeOf } from "./routes.ts";
import { readSigned, writeSigned } from "./signed.ts";
import { GcsBucket } from "./state.ts";

export type GcsServerOptions = {
  readonly buckets: readonly string[];
  /** The accounts; default: `server.account`. */
  readonly accounts?: readonly GcsAccount[];
  /** The port; default: a free one. */
  readonly port?: number;
  /** The server's clock, in milliseconds since 1970. */
  readonly nowMs?: () => number;
  /** The server counts and discards content and trusts digests: for benchmarks of clients. */
  readonly discardsContent?: boolean;
  readonly limits?: Partial<GcsLimits>;
};

export type GcsServed = {
  readonly operation: GcsRoute["operation"] | "Unknown";
  readonly key: string;
  readonly status: number;
};

const limits: GcsLimits = {
  chunkBytes: 256 * 1_024,
  listedMax: 1_000,
  rewrittenBytesMax: 1_024 ** 3,
};

export class GcsServer implements AsyncDisposable {
  /** Every answered request, in order. */
  readonly served: GcsServed[] = [];
  readonly failures = new CommandedFailures();
  readonly buckets: Map<string, GcsBucket>;
  /** The first of the server's accounts. */
  readonly account: GcsAccount;
  readonly #bodies: Bodies;
  readonly #options: GcsServerOptions;
  readonly #users: readonly GcsUser[];
  readonly #denied = new Set<string>();
  readonly #port: Port;

  private constructor(options: GcsServerOptions, bodies: Bodies) {
    this.#options = options;
    this.#bodies = bodies;
    const [first = newAccount("tester"), ...others] = options.accounts ?? [];
    this.account = first;
    this.#users = [first, ...others].map(userOf);
    this.#port = new Port((request, response) => void this.#serve(request, response), options.port);
    this.buckets = new Map(options.buckets.map((name) => [name, new GcsBucket(name)]));
  }

  static async start(options: GcsServerOptions): Promise<GcsServer> {
    const discards = options.discardsContent === true;
    const server = new GcsServer(options, discards ? Bodies.discarded() : await Bodies.kept());
    await server.listen();
    return server;
  }

  get url(): string {
    return this.#port.url;
  }

  /** Listens; after `away`, on the same port and with the same objects. */
  listen(): Promise<void> {
    return this.#port.listen();
  }

  /** Breaks off all connections and refuses new ones. */
  away(): Promise<void> {
    return this.#port.leave();
  }

  /** Takes a right from an account until `allow` restores it. */
  deny(action: GcsAction, account: GcsAccount = this.account): void {
    this.#denied.add(`${account.client_email} ${action}`);
  }

  allow(action: GcsAction, account: GcsAccount = this.account): void {
    this.#denied.delete(`${account.client_email} ${action}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.away();
    await this.#bodies[Symbol.asyncDispose]();
  }

  #now(): number {
    return this.#options.nowMs?.() ?? Date.now();
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => {});
    let route: GcsRoute | null = null;
    let afterBytes: number | null = null;
    let answer: GcsAnswer;
    try {
      route = routeOf(message);
      const failure = this.failures.take(route.operation, route.name);
      if (failure?.kind === "reset") return breakOff(message, response);
      if (failure?.kind === "slow") await slow(failure.ms);
      if (failure?.kind === "status")
        throw new GcsError(failure.status, failure.code, "As commanded.");
      if (failure?.kind === "truncated") afterBytes = failure.afterBytes;
      answer = await this.#answer(message, route);
      if (failure?.kind === "lost_answer") return breakOff(message, response);
    } catch (error) {
      answer = answerOf(error, route?.isXml === true);
    }
    const operation = route?.operation ?? "Unknown";
    this.served.push({ operation, key: route?.name ?? "", status: answer.status });
    message.resume();
    const headers = { ...answer.headers, "x-guploader-uploadid": randomUUID() };
    await sendAnswer(message, response, { ...answer, headers }, afterBytes, this.#now());
  }

  async #answer(message: IncomingMessage, route: GcsRoute): Promise<GcsAnswer> {
    const nowMs = this.#now();
    const bucketNamed = (name: string): GcsBucket => {
      const bucket = this.buckets.get(name);
      if (bucket === undefined) throw noBucket();
      return bucket;
    };
    // A session's address is itself the secret, so it needs no user.
    const user = route.operation === "UploadChunk" ? null : this.#userOf(route, nowMs);
    const mayDo = (action: GcsAction): boolean => !this.#denied.has(`${user?.email} ${action}`);
    const request: GcsRequest = {
      message,
      method: route.method,
      bucket: bucketNamed(route.bucket),
      name: route.name,
      query: route.query,
      headers: route.headers,
      bodies: this.#bodies,
      nowMs,
      limits: { ...limits, ...this.#options.limits },
      origin: `http://${route.headers["host"] ?? ""}`,
      mayDo,
      allow: (action) => {
        if (mayDo(action)) return;
        const detail = `${user?.email} does not have ${action} access to the Google Cloud Storage object.`;
        throw new GcsError(403, route.isXml ? "AccessDenied" : "forbidden", detail);
      },
      otherBucket: bucketNamed,
    };
    return operate(request, route);
  }

  #userOf(route: GcsRoute, nowMs: number): GcsUser {
    if (route.isXml) return userOfUrl(route, this.#users, nowMs);
    return userOfToken(route.headers["authorization"], this.#users, nowMs);
  }
}

async function operate(request: GcsRequest, route: GcsRoute): Promise<GcsAnswer> {
  switch (route.operation) {
    case "GetObject":
      return getObject(request);
    case "ListObjects":
      return listObjects(request);
    case "InsertObject":
      return insertObject(request);
    case "DeleteObject":
      return deleteObject(request);
    case "RewriteObject":
      return rewriteObject(request, route.target ?? { bucket: "", name: "" });
    case "BeginUpload":
      return beginSession(request);
    case "UploadChunk":
      return continueSession(request);
    case "ReadSigned":
      return readSigned(request);
    case "WriteSigned":
      return writeSigned(request);
  }
}

function answerOf(error: unknown, isXml: boolean): GcsAnswer {
  const told =
    error instanceof GcsError
      ? error
      : new GcsError(500, "backendError", error instanceof Error ? error.message : String(error));
  const { status, code, message } = told;
  if (isXml) {
    const escaped = message.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    const content = `<?xml version='1.0' encoding='UTF-8'?><Error><Code>${code}</Code><Message>${escaped}</Message></Error>`;
    return { status, headers: { "content-type": "application/xml; charset=UTF-8" }, content };
  }
  const errors = [{ message, domain: "global", reason: code }];
  const content = JSON.stringify({ error: { code: status, message, errors } });
  return { status, headers: { "content-type": "application/json; charset=UTF-8" }, content };
}
