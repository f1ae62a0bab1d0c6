/** The checksums that S3 keeps, of whole content and of parts, in base64. */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { S3Error } from "./errors.ts";

export const checksumNames = ["crc32", "crc32c", "sha1", "sha256"] as const;
export type ChecksumName = (typeof checksumNames)[number];

export type Checksum = {
  readonly name: ChecksumName;
  readonly value: string;
  readonly type: "COMPOSITE" | "FULL_OBJECT";
};

export interface RunningChecksum {
  update(content: Uint8Array): void;
  /** Returns the checksum in base64. */
  value(): string;
}

const crc32cTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

function crc32c(content: Uint8Array, before: number): number {
  let value = ~before;
  for (const byte of content) value = (value >>> 8) ^ (crc32cTable[(value ^ byte) & 0xff] ?? 0);
  return ~value >>> 0;
}

function runningCrc(step: (content: Uint8Array, before: number) => number): RunningChecksum {
  let value = 0;
  return {
    update(content) {
      value = step(content, value);
    },
    value() {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value >>> 0);
      return bytes.toString("base64");
    },
  };
}

export function runningChecksum(name: ChecksumName | "md5"): RunningChecksum {
  if (name === "crc32") return runningCrc((content, before) => crc32(content, before));
  if (name === "crc32c") return runningCrc(crc32c);
  const hash = createHash(name);
  return {
    update: (content) => void hash.update(content),
    value: () => hash.digest("base64"),
  };
}

/** Returns the checksum of the parts' checksums, with the number of parts, in S3's notation. */
export function compositeOf(name: ChecksumName, parts: readonly string[]): string {
  const running = runningChecksum(name);
  for (const part of parts) running.update(Buffer.from(part, "base64"));
  return `${running.value()}-${parts.length}`;
}

const lengths: Readonly<Record<ChecksumName, number>> = {
  crc32: 4,
  crc32c: 4,
  sha1: 20,
  sha256: 32,
};

/** Returns the checksum that a request names, in a header or announced for the trailer; null if it names none. */
export function checksumIn(
  headers: Readonly<Record<string, string | undefined>>,
): { readonly name: ChecksumName; readonly value: string } | null {
  const given = checksumNames.filter((name) => headers[headerOf(name)] !== undefined);
  if (given.length > 1) {
    throw new S3Error(400, "InvalidRequest", "Expecting a single x-amz-checksum- header.");
  }
  const [name] = given;
  if (name === undefined) return null;
  const value = headers[headerOf(name)] ?? "";
  if (Buffer.from(value, "base64").length !== lengths[name]) {
    throw new S3Error(400, "InvalidRequest", `Value for ${headerOf(name)} header is invalid.`);
  }
  return { name, value };
}

export const headerOf = (name: ChecksumName): string => `x-amz-checksum-${name}`;

/** Parses SHA256 or CRC32C as requests and answers write it; null for no name. */
export function checksumNamed(text: string | undefined): ChecksumName | null {
  if (text === undefined) return null;
  const name = checksumNames.find((known) => known === text.toLowerCase());
  if (name !== undefined) return name;
  throw new S3Error(400, "InvalidRequest", `Checksum algorithm ${text} is not supported.`);
}
