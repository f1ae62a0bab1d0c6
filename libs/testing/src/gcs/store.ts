/** Stores content, compares it with the announced digests, and creates an object if they are equal. */
import { runningChecksum } from "../s3/checksums.ts";
import type { Bodies, Piece } from "../http/bodies.ts";
import { GcsError } from "./errors.ts";
import type { Announced, GcsBucket, GcsDigests, GcsObject } from "./state.ts";

/** Returns the digests of the pieces; empty if content is discarded. */
export async function digestsOf(bodies: Bodies, pieces: readonly Piece[]): Promise<GcsDigests> {
  if (!bodies.areKept) return { md5: "", crc32c: "" };
  const [md5, crc32c] = [runningChecksum("md5"), runningChecksum("crc32c")];
  const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0);
  for await (const chunk of bodies.read(pieces, 0, bytes)) {
    md5.update(chunk);
    crc32c.update(chunk);
  }
  return { md5: md5.value(), crc32c: crc32c.value() };
}

/** Throws `conditionNotMet` if the generation differs, and `invalid` if the content differs from the announced one. */
export function makeObject(
  bucket: GcsBucket,
  announced: Announced,
  pieces: readonly Piece[],
  digests: GcsDigests,
  nowMs: number,
): GcsObject {
  checkGeneration(bucket, announced.name, announced.ifGeneration);
  for (const kind of ["md5", "crc32c"] as const) {
    const [wanted, found] = [announced[kind], digests[kind]];
    if (wanted === null || found === "" || wanted === found) continue;
    const what = kind === "md5" ? "MD5" : "CRC32C";
    const hash = `Provided ${what} hash "${wanted}" doesn't match calculated ${what} hash "${found}".`;
    throw new GcsError(400, "invalid", hash);
  }
  const { name, contentType, metadata, kmsKey } = announced;
  const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0);
  const generation = bucket.nextGeneration();
  const object: GcsObject = {
    name,
    pieces,
    bytes,
    digests:
      digests.md5 === "" ? { md5: announced.md5 ?? "", crc32c: announced.crc32c ?? "" } : digests,
    contentType,
    metadata,
    kmsKey,
    generation,
    updatedMs: nowMs,
  };
  bucket.objects.set(name, object);
  return object;
}

export function checkGeneration(bucket: GcsBucket, name: string, wanted: number | null): void {
  if (wanted === null || wanted === (bucket.objects.get(name)?.generation ?? 0)) return;
  const detail = "At least one of the pre-conditions you specified did not hold.";
  throw new GcsError(412, "conditionNotMet", detail);
}

export function checkName(name: string): void {
  const isName =
    name !== "" &&
    !/[\r\n]/.test(name) &&
    name !== "." &&
    name !== ".." &&
    Buffer.byteLength(name) <= 1_024;
  if (!isName) throw new GcsError(400, "invalid", `Invalid object name: '${name}'`);
}
