/** Receives the content of a request: decodes it, stores it, and compares it with the request's sizes and digests. */
import type { Bodies, Piece } from "../http/bodies.ts";
import type { Caller } from "./authorise.ts";
import {
  type ChecksumName,
  checksumIn,
  checksumNamed,
  type RunningChecksum,
  runningChecksum,
} from "./checksums.ts";
import { ChunkedBody, type ChunkSigning } from "./chunks.ts";
import { S3Error } from "./errors.ts";
import { scopeOf, signingKey } from "./signature.ts";

export type Received = {
  readonly piece: Piece;
  /** The MD5 in hex. */
  readonly md5: string;
  readonly checksum: { readonly name: ChecksumName; readonly value: string } | null;
};

export type Incoming = {
  readonly headers: Readonly<Record<string, string>>;
  readonly content: AsyncIterable<Uint8Array>;
  readonly caller: Caller;
  readonly bodies: Bodies;
};

const bytesMax = 5 * 1_024 ** 3;
const hexDigest = /^[0-9a-f]{64}$/;

export async function receive(incoming: Incoming): Promise<Received> {
  const { headers, caller, bodies } = incoming;
  const { payload } = caller.signature;
  const bytes = declaredBytes(headers, payload);
  const claimed = checksumIn(headers);
  const trailer = trailerNamed(headers);
  if (claimed !== null && trailer !== null) {
    throw new S3Error(400, "InvalidRequest", "Expecting a single x-amz-checksum- header.");
  }
  const name = claimed?.name ?? trailer;
  const digests = new Digests(bodies.areKept, name, hexDigest.test(payload));
  const chunked = payload.startsWith("STREAMING-") ? chunkedBody(incoming) : null;
  const content = chunked?.content(payload.endsWith("-TRAILER")) ?? incoming.content;
  const piece = await bodies.store(digests.through(content, bytes));
  try {
    const stated = claimed ?? (trailer === null ? null : checksumIn(chunked?.trailers ?? {}));
    return { piece, ...digests.checked(headers, payload, stated) };
  } catch (error) {
    await bodies.drop([piece]);
    throw error;
  }
}

function declaredBytes(headers: Incoming["headers"], payload: string): number {
  const isChunked = payload.startsWith("STREAMING-");
  const text = headers[isChunked ? "x-amz-decoded-content-length" : "content-length"];
  if (text === undefined || !/^\d+$/.test(text)) {
    throw new S3Error(411, "MissingContentLength", "You must provide the Content-Length.");
  }
  if (Number(text) > bytesMax) throw new S3Error(400, "EntityTooLarge", "5 GB are the most.");
  return Number(text);
}

function trailerNamed(headers: Incoming["headers"]): ChecksumName | null {
  const name = headers["x-amz-trailer"];
  return checksumNamed(name?.replace("x-amz-checksum-", ""));
}

function chunkedBody({ headers, content, caller }: Incoming): ChunkedBody {
  const { user, signature } = caller;
  const { payload } = signature;
  if (!(headers["content-encoding"] ?? "").split(",").some((one) => one.trim() === "aws-chunked")) {
    throw new S3Error(400, "InvalidRequest", "A streamed payload is encoded as aws-chunked.");
  }
  if (payload === "STREAMING-UNSIGNED-PAYLOAD-TRAILER") return new ChunkedBody(content, null);
  const known = [
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
  ];
  if (!known.includes(payload)) {
    throw new S3Error(400, "InvalidRequest", `x-amz-content-sha256 cannot be ${payload}`);
  }
  const signing: ChunkSigning = {
    key: signingKey(user.secretAccessKey, signature),
    at: signature.at,
    scope: scopeOf(signature),
    seed: signature.signature,
  };
  return new ChunkedBody(content, signing);
}

/** Computes the digests of the received bytes. A server that discards content computes none and trusts the sender's. */
class Digests {
  readonly #md5: RunningChecksum | null;
  readonly #sha256: RunningChecksum | null;
  readonly #named: RunningChecksum | null;
  readonly #name: ChecksumName | null;

  constructor(areComputed: boolean, name: ChecksumName | null, isSigned: boolean) {
    this.#name = name;
    this.#md5 = areComputed ? runningChecksum("md5") : null;
    this.#sha256 = areComputed && isSigned ? runningChecksum("sha256") : null;
    this.#named = areComputed && name !== null ? runningChecksum(name) : null;
  }

  async *through(content: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
    let seen = 0;
    for await (const chunk of content) {
      seen += chunk.length;
      for (const one of [this.#md5, this.#sha256, this.#named]) one?.update(chunk);
      yield chunk;
    }
    if (seen === bytes) return;
    const detail = `You did not provide the number of bytes specified: ${seen}, not ${bytes}`;
    throw new S3Error(400, "IncompleteBody", detail);
  }

  checked(
    headers: Incoming["headers"],
    payload: string,
    stated: { readonly name: ChecksumName; readonly value: string } | null,
  ): Pick<Received, "md5" | "checksum"> {
    const md5 = this.#md5?.value() ?? "";
    const claimed = headers["content-md5"];
    if (claimed !== undefined && Buffer.from(claimed, "base64").length !== 16) {
      throw new S3Error(400, "InvalidDigest", "The Content-MD5 you specified is not valid.");
    }
    if (this.#md5 !== null && claimed !== undefined && claimed !== md5) {
      throw new S3Error(400, "BadDigest", "The Content-MD5 you specified did not match.");
    }
    if (this.#sha256 !== null && hex(this.#sha256.value()) !== payload) {
      const detail = "The provided 'x-amz-content-sha256' header does not match what was computed.";
      throw new S3Error(400, "XAmzContentSHA256Mismatch", detail);
    }
    if (this.#name !== null && stated === null) {
      throw new S3Error(400, "MalformedTrailerError", "The trailer that was announced is missing.");
    }
    if (stated !== null && this.#named !== null && stated.value !== this.#named.value()) {
      const detail = `The ${stated.name.toUpperCase()} you specified did not match the calculated checksum.`;
      throw new S3Error(400, "BadDigest", detail);
    }
    return { md5: hex(md5), checksum: stated };
  }
}

const hex = (base64: string): string => Buffer.from(base64, "base64").toString("hex");
