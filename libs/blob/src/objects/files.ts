/** Compares files with the state of an object store. */
import { createHash } from "node:crypto";
import { Fault } from "@trainyard/kernel";
import type { Claim, FileDigests, ObjectHead, UploadPlan } from "./port.ts";

export type PartRange = { readonly offset: number; readonly bytes: number };

/** Returns the byte ranges of a file's parts; an empty file has one part. */
export function partsOf(bytes: number, partBytes: number): readonly PartRange[] {
  return Array.from({ length: Math.max(Math.ceil(bytes / partBytes), 1) }, (_, index) => {
    const offset = index * partBytes;
    return { offset, bytes: Math.min(partBytes, bytes - offset) };
  });
}

/** Returns the number and the bytes of the missing parts, for an upload plan. */
export function missingOf(ranges: readonly PartRange[]): UploadPlan["missing"] {
  return { parts: ranges.length, bytes: ranges.reduce((sum, { bytes }) => sum + bytes, 0) };
}

export const nothingMissing = missingOf([]);

/** Claims all parts, without a limit. */
export const claimAll: Claim = (parts) => parts;

/**
 * Throws a Fault `wrong_digests` if the number of part digests does not fit the file's size, `file_too_large` for too
 * many parts.
 */
export function checkFile(
  key: string,
  file: FileDigests,
  partBytes: number,
  partsMax: number,
): void {
  const parts = Math.max(Math.ceil(file.bytes / partBytes), 1);
  if (parts > partsMax) {
    const most = `${partsMax} parts of ${partBytes} bytes`;
    throw new Fault("file_too_large", `${key} has ${file.bytes} bytes, more than ${most}`, {
      retry: "never",
      fields: { key, bytes: file.bytes },
    });
  }
  if (file.parts.length === parts) return;
  throw wrongDigests(key, `${parts} parts, and digests of ${file.parts.length}`);
}

/** `what` names the wrong digests: "2 parts, and digests of 3". */
export function wrongDigests(key: string, what: string): Fault {
  return new Fault("wrong_digests", `${key} has ${what}`, { retry: "never", fields: { key } });
}

export const base64OfHex = (hex: string): string => Buffer.from(hex, "hex").toString("base64");

/** Returns the SHA-256 of the parts' SHA-256, in base64. */
export function compositeSha256({ parts }: FileDigests): string {
  const hash = createHash("sha256");
  for (const { sha256 } of parts) hash.update(Buffer.from(sha256, "hex"));
  return hash.digest("base64");
}

/**
 * "same": size and checksum are equal. "differs": the size or the checksum is different. "unknown": the size is equal,
 * but the store has no comparable checksum, so only the bytes can be compared.
 */
export function compareWithFile(
  { bytes, checksum }: ObjectHead,
  file: FileDigests,
): "same" | "differs" | "unknown" {
  if (bytes !== file.bytes) return "differs";
  if (checksum === null) return "unknown";
  if (checksum.kind === "sha256-parts" && checksum.parts !== file.parts.length) return "unknown";
  const expected = {
    sha256: base64OfHex(file.sha256),
    "sha256-parts": compositeSha256(file),
    md5: file.md5,
    crc32c: file.crc32c,
  }[checksum.kind];
  if (expected === "") return "unknown";
  return checksum.value === expected ? "same" : "differs";
}
