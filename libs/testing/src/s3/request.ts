/** A request as operations receive it, and their answers. */
import type { Bodies } from "../http/bodies.ts";
import type { S3Action } from "./authorise.ts";
import type { Received } from "./receive.ts";
import type { S3Bucket } from "./state.ts";
import { S3Error } from "./errors.ts";

export type S3Request = {
  readonly bucket: S3Bucket;
  readonly key: string;
  readonly query: ReadonlyMap<string, string>;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodies: Bodies;
  readonly nowMs: number;
  readonly limits: S3Limits;
  /** Receives the content and checks it. */
  receive(): Promise<Received>;
  /** Returns the content of a small request after a check. */
  text(): Promise<string>;
  /** Throws AccessDenied if the user lacks the right. */
  allow(action: S3Action, key: string): void;
  mayDo(action: S3Action, key: string): boolean;
  otherBucket(name: string): S3Bucket;
};

export type S3Limits = {
  /** The smallest size of every part except the last. */
  readonly partBytesMin: number;
  /** The maximum size for CopyObject and for a copied part. */
  readonly copyBytesMax: number;
  readonly listedMax: number;
};

export type Answer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?:
    | string
    | { readonly bytes: number; readonly stream: AsyncIterable<Uint8Array> };
};

export const xmlAnswer = (content: string, headers: Answer["headers"] = {}): Answer => ({
  status: 200,
  headers: { "content-type": "application/xml", ...headers },
  content,
});

export function numberIn(
  query: ReadonlyMap<string, string>,
  name: string,
  otherwise: number,
  max: number,
): number {
  const text = query.get(name);
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) {
    throw new S3Error(400, "InvalidArgument", `Argument ${name} must be an integer of 0 or more`);
  }
  return Math.min(number, max);
}

export function partNumberIn(query: ReadonlyMap<string, string>): number {
  const number = Number(query.get("partNumber"));
  if (Number.isInteger(number) && number >= 1 && number <= 10_000) return number;
  const detail = "Part number must be an integer between 1 and 10000, inclusive";
  throw new S3Error(400, "InvalidArgument", detail);
}
