/** Decodes requests over gRPC to the form that bodies over REST have: JSON, and the content of byte fields apart. */
import { createHash } from "node:crypto";
import { type DescMessage, fromBinary, type JsonObject, ScalarType } from "@bufbuild/protobuf";
import { codecOf } from "@trainyard/contracts";
import { isFault } from "@trainyard/kernel";
import { httpLimits } from "./limits.ts";

export type ReadMessage =
  | {
      readonly kind: "read";
      readonly json: JsonObject;
      readonly content: Readonly<Record<string, Uint8Array>>;
      /** The digest of the message; empty if it was not asked for. */
      readonly digest: string;
    }
  | { readonly kind: "refused"; readonly detail: string };

export type EncodedMessage = { readonly bytes: Uint8Array; readonly isDigested: boolean };

export function readMessageBytes(
  desc: DescMessage,
  { bytes, isDigested }: EncodedMessage,
): ReadMessage {
  try {
    const message = fromBinary(desc, bytes) as unknown as Record<string, unknown>;
    const fields = desc.fields.filter(({ scalar }) => scalar === ScalarType.BYTES);
    const content = Object.fromEntries(
      fields.map(({ localName: name }) => [name, message[name] as Uint8Array]),
    );
    const none = Object.fromEntries(fields.map(({ localName: name }) => [name, new Uint8Array()]));
    const json = codecOf<object>(desc).toJson({ ...message, ...none });
    const { bodySeparatorsMax: most } = httpLimits;
    if (hasMoreValues(json, most)) {
      return { kind: "refused", detail: `the message has more than ${most} values` };
    }
    return { kind: "read", json, content, digest: isDigested ? digestOf(json, content) : "" };
  } catch (error) {
    return {
      kind: "refused",
      detail: `the message is no ${desc.typeName}: ${reasonOf(error)}`,
    };
  }
}

/** Returns the same for equal messages, whose encoders may send the entries of maps in any order. */
function digestOf(json: JsonObject, content: Readonly<Record<string, Uint8Array>>): string {
  const text = JSON.stringify(json, (_, value: unknown) =>
    typeof value !== "object" || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  );
  const hash = createHash("sha256").update(text);
  for (const [name, bytes] of Object.entries(content)) {
    hash.update(`\n${name} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}

/** Returns why an error was thrown, with its cause if it is a fault. */
export function reasonOf(error: unknown): string {
  const cause = isFault(error) && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${error instanceof Error ? error.message : String(error)}${cause}`;
}

function hasMoreValues(json: unknown, most: number): boolean {
  const left: unknown[] = [json];
  let seen = 0;
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== "object" || value === null) continue;
    const inside = Object.values(value);
    seen += inside.length;
    if (seen > most) return true;
    for (const one of inside) if (typeof one === "object") left.push(one);
  }
  return false;
}
