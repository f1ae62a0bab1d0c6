/** Decodes requests over gRPC to the form that bodies over REST have: JSON, and the content of byte fields apart. */
import { type DescMessage, fromBinary, type JsonObject, ScalarType } from "@bufbuild/protobuf";
import { codecOf } from "@trainyard/contracts";
import { isFault } from "@trainyard/kernel";
import { httpLimits } from "./limits.ts";

export type ReadMessage =
  | {
      readonly kind: "read";
      readonly json: JsonObject;
      readonly content: Readonly<Record<string, Uint8Array>>;
    }
  | { readonly kind: "refused"; readonly detail: string };

export function readMessageBytes(desc: DescMessage, bytes: Uint8Array): ReadMessage {
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
    return { kind: "read", json, content };
  } catch (error) {
    return {
      kind: "refused",
      detail: `the message is no ${desc.typeName}: ${reasonOf(error)}`,
    };
  }
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
