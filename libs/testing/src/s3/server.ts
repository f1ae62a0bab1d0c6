/**
 * A fake S3 server for tests, on 127.0.0.1. It refuses the same as S3: wrong signatures, times, digests, unknown
 * parameters, parts that are too small. Tests can command failures. Its objects are deleted with it.
 *
 * It lacks versions, access lists, lifecycle, encryption (its headers are stored and returned) and version 1 of
 * ListObjects.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Bodies } from "../http/bodies.ts";
import { breakOff, CommandedFailures, slow } from "../http/commanded.ts";
import { Port } from "../http/port.ts";
import { sendAnswer } from "../http/send.ts";
import { authenticate, type Caller, type S3Action, type S3User } from "./authorise.ts";
import { denied, S3Error } from "./errors.ts";
import { operationOf, operations, type S3Operation } from "./operations.ts";
import { receive } from "./receive.ts";
import type { Answer, S3Limits, S3Request } from "./request.ts";
import type { SignedRequest } from "./signature.ts";
import { S3Bucket } from "./state.ts";
import { writeXml } from "./xml.ts";

export type S3ServerOptions = {
  readonly buckets: readonly string[];
  /** The users; default: one with the key `testkey` and the secret `testsecret`. */
  readonly users?: readonly S3User[];
  readonly region?: string;
  /** The port; default: a free one. */
  readonly port?: number;
  /** The server's clock, in milliseconds since 1970. */
  readonly nowMs?: () => number;
  /** The server counts and discards content over 16 KiB and trusts digests: for benchmarks of clients. */
  readonly discardsContent?: boolean;
  /** False simulates a store that ignores all checksums, like older ones. */
  readonly keepsChecksums?: boolean;
  readonly limits?: Partial<S3Limits>;
};

export type S3Served = {
  readonly operation: S3Operation | "Unknown";
  readonly key: string;
  /** The part number in a multipart upload. */
  readonly part: number | null;
  readonly status: number;
};

const limits: S3Limits = {
  partBytesMin: 5 * 1_024 ** 2,
  copyBytesMax: 5 * 1_024 ** 3,
  listedMax: 1_000,
};
export const testUser: S3User = { accessKeyId: "testkey", secretAccessKey: "testsecret" };
const smallBytesMax = 2 * 1_024 ** 2;

type Parsed = {
  readonly signed: SignedRequest;
  readonly bucket: string;
  readonly key: string;
  readonly query: ReadonlyMap<string, string>;
};

export class S3Server implements AsyncDisposable {
  /** Every answered request, in order. */
  readonly served: S3Served[] = [];
  /** The requests as they arrived, including those answered by a commanded failure. */
  readonly asked: S3Served["operation"][] = [];
  readonly failures = new CommandedFailures();
  readonly buckets: Map<string, S3Bucket>;
  readonly region: string;
  readonly #bodies: Bodies;
  readonly #options: S3ServerOptions;
  readonly #users: readonly S3User[];
  readonly #denied = new Set<string>();
  readonly #port: Port;

  private constructor(options: S3ServerOptions, bodies: Bodies) {
    this.#options = options;
    this.#bodies = bodies;
    this.#users = options.users ?? [testUser];
    this.#port = new Port((request, response) => void this.#serve(request, response), options.port);
    this.region = options.region ?? "us-east-1";
    this.buckets = new Map(options.buckets.map((name) => [name, new S3Bucket(name)]));
  }

  static async start(options: S3ServerOptions): Promise<S3Server> {
    const discards = options.discardsContent === true;
    const server = new S3Server(options, discards ? Bodies.discarded() : await Bodies.kept());
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

  /** Takes a right from a user until `allow` restores it. */
  deny(action: S3Action, user: S3User = testUser): void {
    this.#denied.add(`${user.accessKeyId} ${action}`);
  }

  allow(action: S3Action, user: S3User = testUser): void {
    this.#denied.delete(`${user.accessKeyId} ${action}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.away();
    await this.#bodies[Symbol.asyncDispose]();
  }

  #now(): number {
    return this.#options.nowMs?.() ?? Date.now();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => {});
    const seen: { operation: S3Served["operation"]; key: string; part: number | null } = {
      operation: "Unknown",
      key: "",
      part: null,
    };
    let afterBytes: number | null = null;
    let answer: Answer;
    try {
      const parsed = parse(request, [...this.buckets.keys()]);
      seen.key = parsed.key;
      seen.operation = operationOf(
        parsed.signed.method,
        parsed.key,
        parsed.query,
        parsed.signed.headers,
      );
      this.asked.push(seen.operation);
      seen.part = Number(parsed.query.get("partNumber") ?? 0) || null;
      const failure = this.failures.take(seen.operation, seen.key);
      if (failure?.kind === "reset") return breakOff(request, response);
      if (failure?.kind === "slow") await slow(failure.ms);
      if (failure?.kind === "status")
        throw new S3Error(failure.status, failure.code, "As commanded.");
      if (failure?.kind === "truncated") afterBytes = failure.afterBytes;
      answer = await this.#answer(request, parsed, seen.operation);
      if (failure?.kind === "lost_answer") return breakOff(request, response);
      if (failure?.kind === "late_error") {
        answer = {
          status: 200,
          content: errorXml(new S3Error(200, failure.code, "As commanded.")),
        };
      }
    } catch (error) {
      answer = answerOf(error, request.method === "HEAD");
    }
    this.served.push({ ...seen, status: answer.status });
    request.resume();
    const headers = { ...answer.headers, "x-amz-request-id": randomUUID() };
    await sendAnswer(request, response, { ...answer, headers }, afterBytes, this.#now());
  }

  async #answer(
    request: IncomingMessage,
    { signed, bucket: name, key, query }: Parsed,
    operation: S3Operation,
  ): Promise<Answer> {
    const caller = authenticate(signed, this.#users, this.region, this.#now());
    const bucketNamed = (wanted: string): S3Bucket => {
      const bucket = this.buckets.get(wanted);
      if (bucket !== undefined) return bucket;
      throw new S3Error(404, "NoSuchBucket", "The specified bucket does not exist");
    };
    const mayDo = (action: S3Action): boolean =>
      !this.#denied.has(`${caller.user.accessKeyId} ${action}`);
    const headers =
      this.#options.keepsChecksums === false ? withoutChecksums(signed.headers) : signed.headers;
    const takeIn =
      (bodies: Bodies): S3Request["receive"] =>
      () =>
        receive({ headers, content: request, caller, bodies });
    return operations[operation]({
      bucket: bucketNamed(name),
      key,
      query,
      headers,
      bodies: this.#bodies,
      nowMs: this.#now(),
      limits: { ...limits, ...this.#options.limits },
      receive: takeIn(this.#bodies),
      text: () => textOf(headers, request, caller),
      allow: (action) => {
        if (!mayDo(action)) throw denied();
      },
      mayDo,
      otherBucket: bucketNamed,
    });
  }
}

function withoutChecksums(headers: SignedRequest["headers"]): SignedRequest["headers"] {
  const entries = Object.entries(headers);
  return Object.fromEntries(
    entries.filter(([name]) => !/^x-amz-(sdk-)?checksum|^x-amz-trailer$/.test(name)),
  );
}

/** Reads the content of a small request, even if the server discards objects. */
async function textOf(
  headers: SignedRequest["headers"],
  content: AsyncIterable<Uint8Array>,
  caller: Caller,
): Promise<string> {
  await using bodies = await Bodies.kept();
  const { piece } = await receive({ headers, content, caller, bodies });
  if (piece.bytes > smallBytesMax) throw new S3Error(400, "MalformedXML", "It is too long.");
  const chunks: Uint8Array[] = [];
  for await (const chunk of bodies.read([piece], 0, piece.bytes)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Parses `/bucket/key`, or `/key` at a host whose first label is a bucket. */
function parse(request: IncomingMessage, buckets: readonly string[]): Parsed {
  const [path = "", search = ""] = (request.url ?? "").split(/\?(.*)/s);
  const query = search
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair): readonly [string, string] => {
      const [name = "", value = ""] = pair.split(/=(.*)/s);
      return [decode(name), decode(value)];
    });
  const headers: Record<string, string> = {};
  for (const [name, values] of Object.entries(request.headersDistinct)) {
    headers[name] = (values ?? []).join(",");
  }
  const signed = { method: request.method ?? "", path, query, headers };
  const [label = "", ...domain] = (headers["host"] ?? "").split(".");
  const inHost = domain.length > 0 && buckets.includes(label);
  const [bucket = "", key = ""] = inHost
    ? [label, decode(path.slice(1))]
    : decode(path.slice(1)).split(/\/(.*)/s);
  if (bucket === "") throw new S3Error(501, "NotImplemented", "buckets are not listed here");
  if (Buffer.byteLength(key) > 1_024)
    throw new S3Error(400, "KeyTooLongError", "Your key is too long");
  return { signed, bucket, key, query: new Map(query) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error(400, "InvalidURI", "Couldn't parse the specified URI.");
  }
}

function errorXml({ code, message }: S3Error): string {
  return writeXml("Error", [
    ["Code", code],
    ["Message", message],
    ["RequestId", randomUUID()],
  ]);
}

/** A HEAD has no content, so its errors have no code. */
function answerOf(error: unknown, isHead: boolean): Answer {
  const told =
    error instanceof S3Error
      ? error
      : new S3Error(500, "InternalError", error instanceof Error ? error.message : String(error));
  const hasContent = !isHead && told.status !== 304;
  return {
    status: told.status,
    headers: hasContent ? { "content-type": "application/xml" } : {},
    ...(hasContent ? { content: errorXml(told) } : {}),
  };
}
