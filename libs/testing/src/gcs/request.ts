/** A request as operations receive it, and their answers. */
import type { IncomingMessage } from "node:http";
import type { Bodies } from "../http/bodies.ts";
import type { GcsAction } from "./authorise.ts";
import { GcsError } from "./errors.ts";
import type { GcsBucket, GcsObject } from "./state.ts";

export type GcsLimits = {
  /**
   * Chunks of a resumable upload, and the kept part of an interrupted one, are multiples of this size; the last chunk
   * may be smaller.
   */
  readonly chunkBytes: number;
  readonly listedMax: number;
  /** The bytes that one request of a rewrite copies. */
  readonly rewrittenBytesMax: number;
};

export type GcsRequest = {
  readonly message: IncomingMessage;
  readonly method: string;
  readonly bucket: GcsBucket;
  /** The decoded name of the object; empty for the bucket. */
  readonly name: string;
  readonly query: ReadonlyMap<string, string>;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodies: Bodies;
  readonly nowMs: number;
  readonly limits: GcsLimits;
  /** The address `http://host:port`, as the client wrote it. */
  readonly origin: string;
  /** Throws 403 if the caller lacks the right. */
  allow(action: GcsAction): void;
  mayDo(action: GcsAction): boolean;
  otherBucket(name: string): GcsBucket;
};

export type GcsAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?:
    | string
    | { readonly bytes: number; readonly stream: AsyncIterable<Uint8Array> };
};

export const jsonAnswer = (content: object, headers: GcsAnswer["headers"] = {}): GcsAnswer => ({
  status: 200,
  headers: { "content-type": "application/json; charset=UTF-8", ...headers },
  content: JSON.stringify(content),
});

/** Returns the content of an answer with an object. */
export function contentOf(
  { bodies }: Pick<GcsRequest, "bodies">,
  { pieces, bytes }: Pick<GcsObject, "pieces" | "bytes">,
): NonNullable<GcsAnswer["content"]> {
  return { bytes, stream: bodies.read(pieces, 0, bytes) };
}

const smallBytesMax = 2 * 1_024 ** 2;

/** Reads the whole content of a small request. */
export async function textOf(message: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of message) {
    bytes += chunk.length;
    if (bytes > smallBytesMax) throw new GcsError(413, "uploadTooLarge", "It is too long.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

export function jsonOf(text: string): Readonly<Record<string, unknown>> {
  const value = text.trim() === "" ? {} : parsed(text);
  if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  throw new GcsError(400, "parseError", "Parse Error");
}

/** Returns null for a text that is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns `ifGenerationMatch`; null if absent. */
export function generationIn(query: ReadonlyMap<string, string>, name: string): number | null {
  const text = query.get(name);
  if (text === undefined) return null;
  if (/^\d+$/.test(text)) return Number(text);
  throw new GcsError(400, "invalid", `Invalid value for ${name}: ${text}`);
}
