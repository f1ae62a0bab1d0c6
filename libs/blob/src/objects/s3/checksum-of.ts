/** The checksum in S3's answer to a HEAD or copy request. */
import type { CopyObjectResult, HeadObjectCommandOutput } from "@aws-sdk/client-s3";
import type { ObjectChecksum } from "../port.ts";

type Kept = Pick<
  HeadObjectCommandOutput & CopyObjectResult,
  "ChecksumSHA256" | "ChecksumCRC32C" | "ETag" | "ChecksumType"
>;

/** The checksum over parts has the number of parts as a suffix; some stores have that number only in the ETag. */
export function checksumOf(answer: Kept): ObjectChecksum | null {
  const { ChecksumSHA256: sha256, ChecksumCRC32C: crc32c, ETag, ChecksumType } = answer;
  if (sha256 !== undefined) {
    const [value = "", suffix] = sha256.split("-");
    const parts =
      suffix ?? (ChecksumType === "COMPOSITE" ? /-(\d+)"?$/.exec(ETag ?? "")?.[1] : undefined);
    if (parts === undefined) return { kind: "sha256", value };
    return { kind: "sha256-parts", value, parts: Number(parts) };
  }
  if (crc32c !== undefined && ChecksumType === "FULL_OBJECT")
    return { kind: "crc32c", value: crc32c };
  return null;
}
