import { toBinary, fromJson } from "@bufbuild/protobuf";
import { CreateExperimentRequestSchema, CreateModelRequestSchema } from "@trainyard/contracts/api";
import { assert } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { readMessageBytes } from "./message-bytes.ts";

function digestOf(name: string, metadata: Readonly<Record<string, unknown>>): string {
  const desc = CreateModelRequestSchema;
  const bytes = toBinary(desc, fromJson(desc, { name, metadata } as never));
  const read = readMessageBytes(desc, { bytes, isDigested: true });
  assert(read.kind === "read", "the message is read");
  return read.digest;
}

test("the digest of a message is the same for each order of its maps' entries, and another for other values", () => {
  const one = digestOf("m", { a: 1, b: { c: [1, 2], d: 2 } });
  expect(digestOf("m", { b: { d: 2, c: [1, 2] }, a: 1 })).toBe(one);
  const others = [
    digestOf("n", { a: 1, b: { c: [1, 2], d: 2 } }),
    digestOf("m", { a: 1, b: { c: [2, 1], d: 2 } }),
    digestOf("m", { a: 1, b: { c: [1, 2] } }),
  ];
  expect(new Set([one, ...others]).size).toBe(4);
});

test("the digest of a message counts the content of its bytes", () => {
  const desc = CreateExperimentRequestSchema;
  const digests = ["AAA=", "AAE="].map((context) => {
    const bytes = toBinary(desc, fromJson(desc, { config: "name: x", context }));
    const read = readMessageBytes(desc, { bytes, isDigested: true });
    return read.kind === "read" ? read.digest : "";
  });
  expect(new Set(digests).size).toBe(2);
});
