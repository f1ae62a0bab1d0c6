/** The object operations: PutObject, GetObject, HeadObject, DeleteObject, DeleteObjects and CopyObject. */
import { readXml, textAt, writeXml, type XmlElement } from "./xml.ts";
import { denied, S3Error } from "./errors.ts";
import { type Answer, type S3Request, xmlAnswer } from "./request.ts";
import { checksumNamed, runningChecksum } from "./checksums.ts";
import { checksumHeaders, encryptionHeaders, storedHeaders, type S3Object } from "./state.ts";

/** Replaces the object at the key. Throws PreconditionFailed for an existing object with `If-None-Match: *`. */
export async function storeObject(request: S3Request, object: S3Object): Promise<void> {
  const { bucket, bodies } = request;
  try {
    checkAbsent(request);
  } catch (error) {
    await bodies.drop(object.pieces);
    throw error;
  }
  const before = bucket.objects.get(object.key);
  bucket.objects.set(object.key, object);
  if (before !== undefined) await bodies.drop(before.pieces);
}

export function checkAbsent({ bucket, key, headers }: S3Request): void {
  const condition = headers["if-none-match"];
  if (condition === undefined) return;
  if (condition !== "*") {
    throw new S3Error(501, "NotImplemented", "If-None-Match of a write takes * alone");
  }
  if (!bucket.objects.has(key)) return;
  const detail = "At least one of the pre-conditions you specified did not hold";
  throw new S3Error(412, "PreconditionFailed", detail);
}

export async function putObject(request: S3Request): Promise<Answer> {
  request.allow("s3:PutObject", request.key);
  const { piece, md5, checksum } = await request.receive();
  const object: S3Object = {
    key: request.key,
    pieces: [piece],
    bytes: piece.bytes,
    etag: `"${md5}"`,
    checksum: checksum === null ? null : { ...checksum, type: "FULL_OBJECT" },
    headers: storedHeaders(request.headers),
    modifiedMs: request.nowMs,
  };
  await storeObject(request, object);
  return {
    status: 200,
    headers: {
      etag: object.etag,
      ...checksumHeaders(object.checksum),
      ...encryptionHeaders(object.headers),
    },
  };
}

function readable(request: S3Request): S3Object {
  request.allow("s3:GetObject", request.key);
  // A caller without the right to list is refused: S3 does not reveal that the object is absent.
  const object = request.bucket.objects.get(request.key);
  if (object === undefined && !request.mayDo("s3:ListBucket", request.key)) throw denied();
  return request.bucket.object(request.key);
}

export async function getObject(request: S3Request): Promise<Answer> {
  return objectAnswer(request, readable(request));
}

function objectAnswer(request: S3Request, object: S3Object): Answer {
  checkConditions(request.headers, object);
  const range = rangeIn(request.headers["range"], object.bytes);
  const [from, to] = range ?? [0, object.bytes];
  const wantsChecksum = request.headers["x-amz-checksum-mode"]?.toUpperCase() === "ENABLED";
  return {
    status: range === null ? 200 : 206,
    headers: {
      "accept-ranges": "bytes",
      "content-type": "binary/octet-stream",
      etag: object.etag,
      "last-modified": new Date(object.modifiedMs).toUTCString(),
      ...object.headers,
      ...(wantsChecksum && range === null ? checksumHeaders(object.checksum) : {}),
      ...(range === null ? {} : { "content-range": `bytes ${from}-${to - 1}/${object.bytes}` }),
    },
    content: { bytes: to - from, stream: request.bodies.read(object.pieces, from, to) },
  };
}

function checkConditions(headers: S3Request["headers"], object: S3Object): void {
  const [match, noneMatch] = [headers["if-match"], headers["if-none-match"]];
  if (match !== undefined && match !== object.etag) {
    throw new S3Error(412, "PreconditionFailed", "If-Match did not hold");
  }
  if (noneMatch === object.etag) throw new S3Error(304, "NotModified", "");
}

/**
 * Returns the range from the first byte up to, but excluding, the second number; null for no range or an invalid one.
 */
function rangeIn(header: string | undefined, bytes: number): readonly [number, number] | null {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (first === "" && last === "") return null;
  const from = first === "" ? Math.max(bytes - Number(last), 0) : Number(first);
  const to = first === "" || last === "" ? bytes : Math.min(Number(last) + 1, bytes);
  if (from < to) return [from, to];
  throw new S3Error(416, "InvalidRange", "The requested range is not satisfiable");
}

export async function deleteObject(request: S3Request): Promise<Answer> {
  request.allow("s3:DeleteObject", request.key);
  await remove(request, request.key);
  return { status: 204 };
}

async function remove({ bucket, bodies }: S3Request, key: string): Promise<void> {
  const object = bucket.objects.get(key);
  bucket.objects.delete(key);
  if (object !== undefined) await bodies.drop(object.pieces);
}

const deletedMax = 1_000;

export async function deleteObjects(request: S3Request): Promise<Answer> {
  const { headers } = request;
  const hasDigest = Object.keys(headers).some((name) =>
    /^(content-md5|x-amz-checksum-\w+)$/.test(name),
  );
  if (!hasDigest && headers["x-amz-trailer"] === undefined) {
    throw new S3Error(400, "InvalidRequest", "Missing required header: Content-MD5");
  }
  const document = readXml(await request.text());
  const keys = document.children
    .filter(({ name }) => name === "Object")
    .map((object) => textAt(object, "Key") ?? "");
  if (document.name !== "Delete" || keys.length === 0 || keys.length > deletedMax) {
    throw new S3Error(400, "MalformedXML", "Delete names 1 to 1000 objects.");
  }
  const results: XmlElement[] = [];
  for (const key of keys) {
    if (request.mayDo("s3:DeleteObject", key)) {
      await remove(request, key);
      if (textAt(document, "Quiet") !== "true") results.push(["Deleted", [["Key", key]]]);
    } else {
      results.push([
        "Error",
        [
          ["Key", key],
          ["Code", "AccessDenied"],
          ["Message", "Access Denied"],
        ],
      ]);
    }
  }
  return xmlAnswer(writeXml("DeleteResult", results));
}

/** Returns the object that `x-amz-copy-source` names. */
export function copySource(request: S3Request): S3Object {
  const text = decodeURIComponent(request.headers["x-amz-copy-source"] ?? "").replace(/^\//, "");
  const [name = "", key = ""] = text.split(/\/(.*)/s);
  const bucket = request.otherBucket(name);
  request.allow("s3:GetObject", key);
  const object = bucket.objects.get(key);
  if (object === undefined && !request.mayDo("s3:ListBucket", key)) throw denied();
  return bucket.object(key);
}

export async function copyObject(request: S3Request): Promise<Answer> {
  request.allow("s3:PutObject", request.key);
  const source = copySource(request);
  if (source.bytes > request.limits.copyBytesMax) {
    const detail = `The specified copy source is larger than ${request.limits.copyBytesMax} bytes.`;
    throw new S3Error(400, "InvalidRequest", detail);
  }
  const replaces = request.headers["x-amz-metadata-directive"] === "REPLACE";
  const object: S3Object = {
    key: request.key,
    pieces: await request.bodies.copyOf(source.pieces),
    bytes: source.bytes,
    etag: source.etag.includes("-") ? `"${await md5Of(request, source)}"` : source.etag,
    checksum: await checksumOfCopy(request, source),
    headers: {
      ...(replaces ? {} : source.headers),
      ...(replaces
        ? storedHeaders(request.headers)
        : encryptionHeaders(storedHeaders(request.headers))),
    },
    modifiedMs: request.nowMs,
  };
  await storeObject(request, object);
  const children: XmlElement[] = [
    ["ETag", object.etag],
    ["LastModified", new Date(object.modifiedMs).toISOString()],
    ...checksumElements(object.checksum),
  ];
  return xmlAnswer(writeXml("CopyObjectResult", children), encryptionHeaders(object.headers));
}

/** A copy in one request becomes one object: its checksum covers the whole, even if the source's covers parts. */
async function checksumOfCopy(request: S3Request, source: S3Object): Promise<S3Object["checksum"]> {
  const name = checksumNamed(request.headers["x-amz-checksum-algorithm"]) ?? source.checksum?.name;
  if (name === undefined) return null;
  const known = source.checksum;
  if (known?.name === name && known.type === "FULL_OBJECT") return known;
  return { name, value: await valueOf(request, source, name), type: "FULL_OBJECT" };
}

async function valueOf(
  { bodies }: S3Request,
  source: S3Object,
  name: Parameters<typeof runningChecksum>[0],
): Promise<string> {
  const running = runningChecksum(name);
  for await (const chunk of bodies.read(source.pieces, 0, source.bytes)) running.update(chunk);
  return running.value();
}

async function md5Of(request: S3Request, source: S3Object): Promise<string> {
  return Buffer.from(await valueOf(request, source, "md5"), "base64").toString("hex");
}

export function checksumElements(
  checksum: { readonly name: string; readonly value: string } | null,
): readonly XmlElement[] {
  return checksum === null ? [] : [[`Checksum${checksum.name.toUpperCase()}`, checksum.value]];
}
