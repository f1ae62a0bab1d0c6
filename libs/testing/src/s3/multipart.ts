/**
 * The operations of multipart uploads: CreateMultipartUpload, UploadPart, UploadPartCopy, CompleteMultipartUpload and
 * AbortMultipartUpload.
 */
import { createHash, randomUUID } from "node:crypto";
import {
  type Checksum,
  type ChecksumName,
  checksumNamed,
  compositeOf,
  headerOf,
  runningChecksum,
} from "./checksums.ts";
import { S3Error } from "./errors.ts";
import { checkAbsent, checksumElements, copySource, storeObject } from "./objects.ts";
import { type Answer, partNumberIn, type S3Request, xmlAnswer } from "./request.ts";
import { encryptionHeaders, storedHeaders, type S3Part, type S3Upload } from "./state.ts";
import { type ReadElement, readXml, textAt, writeXml } from "./xml.ts";

export async function createMultipartUpload(request: S3Request): Promise<Answer> {
  request.allow("s3:PutObject", request.key);
  const name = checksumNamed(request.headers["x-amz-checksum-algorithm"]);
  const checksum = name === null ? null : { name, type: typeOf(name, request.headers) };
  const upload: S3Upload = {
    id: randomUUID(),
    key: request.key,
    initiatedMs: request.nowMs,
    checksum,
    headers: storedHeaders(request.headers),
    parts: new Map(),
  };
  request.bucket.uploads.set(upload.id, upload);
  const answer = writeXml("InitiateMultipartUploadResult", [
    ["Bucket", request.bucket.name],
    ["Key", request.key],
    ["UploadId", upload.id],
  ]);
  return xmlAnswer(answer, {
    ...encryptionHeaders(upload.headers),
    ...(checksum === null
      ? {}
      : {
          "x-amz-checksum-algorithm": checksum.name.toUpperCase(),
          "x-amz-checksum-type": checksum.type,
        }),
  });
}

function typeOf(name: ChecksumName, headers: S3Request["headers"]): Checksum["type"] {
  const type = headers["x-amz-checksum-type"] ?? "COMPOSITE";
  if (type === "COMPOSITE") return type;
  if (type === "FULL_OBJECT" && name.startsWith("crc")) return type;
  const detail = `The ${type} checksum type cannot be used with the ${name} checksum algorithm.`;
  throw new S3Error(400, "InvalidRequest", detail);
}

export async function uploadPart(request: S3Request): Promise<Answer> {
  request.allow("s3:PutObject", request.key);
  const number = partNumberIn(request.query);
  const id = request.query.get("uploadId");
  const { checksum: expected } = request.bucket.upload(request.key, id);
  const { piece, md5, checksum } = await request.receive();
  if (expected !== null && checksum?.name !== expected.name) {
    await request.bodies.drop([piece]);
    const detail = `Checksum Type mismatch occurred, expected checksum Type: ${expected.name}, actual checksum Type: ${checksum?.name ?? "null"}`;
    throw new S3Error(400, "InvalidRequest", detail);
  }
  const part: S3Part = {
    number,
    pieces: [piece],
    bytes: piece.bytes,
    etag: `"${md5}"`,
    checksum,
    modifiedMs: request.nowMs,
  };
  // The upload may have ended while the part arrived.
  await storePart(request, request.bucket.upload(request.key, id), part);
  return {
    status: 200,
    headers: {
      etag: part.etag,
      ...(checksum === null ? {} : { [headerOf(checksum.name)]: checksum.value }),
    },
  };
}

async function storePart({ bodies }: S3Request, upload: S3Upload, part: S3Part): Promise<void> {
  const before = upload.parts.get(part.number);
  upload.parts.set(part.number, part);
  if (before !== undefined) await bodies.drop(before.pieces);
}

export async function uploadPartCopy(request: S3Request): Promise<Answer> {
  request.allow("s3:PutObject", request.key);
  const number = partNumberIn(request.query);
  const upload = request.bucket.upload(request.key, request.query.get("uploadId"));
  const source = copySource(request);
  const [, first, last] =
    /^bytes=(\d+)-(\d+)$/.exec(request.headers["x-amz-copy-source-range"] ?? "") ?? [];
  const [from, to] = first === undefined ? [0, source.bytes] : [Number(first), Number(last) + 1];
  if (from >= to || to > source.bytes || to - from > request.limits.copyBytesMax) {
    throw new S3Error(400, "InvalidArgument", "The range of the copy source is not valid.");
  }
  const [md5, named] = [runningChecksum("md5"), runningChecksum(upload.checksum?.name ?? "md5")];
  async function* read(): AsyncGenerator<Uint8Array> {
    for await (const chunk of request.bodies.read(source.pieces, from, to)) {
      md5.update(chunk);
      named.update(chunk);
      yield chunk;
    }
  }
  const piece = await request.bodies.store(read());
  const part: S3Part = {
    number,
    pieces: [piece],
    bytes: piece.bytes,
    etag: `"${Buffer.from(md5.value(), "base64").toString("hex")}"`,
    checksum:
      upload.checksum === null ? null : { name: upload.checksum.name, value: named.value() },
    modifiedMs: request.nowMs,
  };
  await storePart(request, upload, part);
  const children = [
    ["ETag", part.etag],
    ["LastModified", new Date(part.modifiedMs).toISOString()],
    ...checksumElements(part.checksum),
  ] as const;
  return xmlAnswer(writeXml("CopyPartResult", children));
}

export async function completeMultipartUpload(request: S3Request): Promise<Answer> {
  request.allow("s3:PutObject", request.key);
  const document = readXml(await request.text());
  const upload = request.bucket.upload(request.key, request.query.get("uploadId"));
  const parts = partsNamed(document, upload, request.limits.partBytesMin);
  checkAbsent(request);
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  checkObjectSize(request.headers, bytes);
  const checksum = await checksumOf(request, upload, parts);
  checkStated(request.headers, checksum);
  const md5 = createHash("md5");
  for (const { etag } of parts) md5.update(Buffer.from(etag.slice(1, -1), "hex"));
  const etag = `"${md5.digest("hex")}-${parts.length}"`;
  request.bucket.uploads.delete(upload.id);
  await storeObject(request, {
    key: request.key,
    pieces: parts.flatMap(({ pieces }) => pieces),
    bytes,
    etag,
    checksum,
    headers: upload.headers,
    modifiedMs: request.nowMs,
  });
  const left = [...upload.parts.values()].filter((part) => !parts.includes(part));
  await request.bodies.drop(left.flatMap(({ pieces }) => pieces));
  const answer = writeXml("CompleteMultipartUploadResult", [
    ["Bucket", request.bucket.name],
    ["Key", request.key],
    ["ETag", etag],
    ...checksumElements(checksum),
    ...(checksum === null ? [] : [["ChecksumType", checksum.type] as const]),
  ]);
  return xmlAnswer(answer, encryptionHeaders(upload.headers));
}

const namedChecksums = ["CRC32", "CRC32C", "SHA1", "SHA256"] as const;

function partsNamed(
  document: ReadElement,
  upload: S3Upload,
  partBytesMin: number,
): readonly S3Part[] {
  const named = document.children.filter(({ name }) => name === "Part");
  if (document.name !== "CompleteMultipartUpload" || named.length === 0) {
    throw new S3Error(400, "MalformedXML", "CompleteMultipartUpload names its parts.");
  }
  const parts = named.map((element) => partNamed(element, upload));
  if (parts.some(({ number }, at) => at > 0 && number <= (parts[at - 1]?.number ?? 0))) {
    throw new S3Error(400, "InvalidPartOrder", "The list of parts was not in ascending order.");
  }
  if (parts.slice(0, -1).some(({ bytes }) => bytes < partBytesMin)) {
    throw new S3Error(400, "EntityTooSmall", "A part is smaller than the minimum allowed size.");
  }
  return parts;
}

function partNamed(element: ReadElement, upload: S3Upload): S3Part {
  const part = upload.parts.get(Number(textAt(element, "PartNumber")));
  const etag = (textAt(element, "ETag") ?? "").replaceAll('"', "");
  if (part === undefined || part.etag !== `"${etag}"`) {
    throw new S3Error(400, "InvalidPart", "One or more of the specified parts could not be found.");
  }
  for (const name of namedChecksums) {
    const stated = textAt(element, `Checksum${name}`);
    if (stated === undefined) continue;
    if (part.checksum?.name.toUpperCase() !== name || part.checksum.value !== stated) {
      throw new S3Error(400, "InvalidPart", `The ${name} of part ${part.number} did not match.`);
    }
  }
  const needed = upload.checksum?.type === "COMPOSITE" ? upload.checksum.name.toUpperCase() : null;
  if (needed !== null && textAt(element, `Checksum${needed}`) === undefined) {
    const detail = `The upload was created using a ${needed} checksum. The complete request must include the checksum for each part. It was missing for part ${part.number} in the request.`;
    throw new S3Error(400, "InvalidRequest", detail);
  }
  return part;
}

function checkObjectSize(headers: S3Request["headers"], bytes: number): void {
  const stated = headers["x-amz-mp-object-size"];
  if (stated === undefined || Number(stated) === bytes) return;
  throw new S3Error(400, "InvalidRequest", "The provided x-amz-mp-object-size does not match.");
}

async function checksumOf(
  { bodies }: S3Request,
  upload: S3Upload,
  parts: readonly S3Part[],
): Promise<Checksum | null> {
  if (upload.checksum === null) return null;
  const { name, type } = upload.checksum;
  if (type === "COMPOSITE") {
    return {
      name,
      type,
      value: compositeOf(
        name,
        parts.map((part) => part.checksum?.value ?? ""),
      ),
    };
  }
  if (!bodies.areKept) {
    throw new S3Error(501, "NotImplemented", "content is discarded: no checksum over the whole");
  }
  const running = runningChecksum(name);
  for (const { pieces, bytes } of parts) {
    for await (const chunk of bodies.read(pieces, 0, bytes)) running.update(chunk);
  }
  return { name, type, value: running.value() };
}

/** Compares the request's checksum of the whole object, which may omit the number of parts. */
function checkStated(headers: S3Request["headers"], checksum: Checksum | null): void {
  if (checksum === null) return;
  const stated = headers[headerOf(checksum.name)];
  const [whole] = checksum.value.split("-");
  if (stated === undefined || stated === checksum.value || stated === whole) return;
  throw new S3Error(400, "BadDigest", `The ${checksum.name} you specified did not match.`);
}

export async function abortMultipartUpload(request: S3Request): Promise<Answer> {
  request.allow("s3:AbortMultipartUpload", request.key);
  const upload = request.bucket.upload(request.key, request.query.get("uploadId"));
  request.bucket.uploads.delete(upload.id);
  await request.bodies.drop([...upload.parts.values()].flatMap(({ pieces }) => pieces));
  return { status: 204 };
}
