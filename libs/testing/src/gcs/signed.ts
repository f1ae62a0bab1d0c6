/** The part of the XML API for signed addresses: an object is read or written as a whole. */
import { GcsError } from "./errors.ts";
import { contentOf, type GcsAnswer, type GcsRequest } from "./request.ts";
import { checkName, digestsOf, makeObject } from "./store.ts";

export async function readSigned(request: GcsRequest): Promise<GcsAnswer> {
  const { bucket, name } = request;
  request.allow("storage.objects.get");
  if (!bucket.objects.has(name)) {
    if (!request.mayDo("storage.objects.list"))
      throw new GcsError(403, "AccessDenied", "Access denied.");
    throw new GcsError(404, "NoSuchKey", "The specified key does not exist.");
  }
  const object = bucket.object(name);
  const { digests, contentType, generation } = object;
  const headers = {
    "content-type": contentType,
    etag: `"${Buffer.from(digests.md5, "base64").toString("hex")}"`,
    "x-goog-generation": String(generation),
    "x-goog-hash": `crc32c=${digests.crc32c},md5=${digests.md5}`,
  };
  return { status: 200, headers, content: contentOf(request, object) };
}

export async function writeSigned(request: GcsRequest): Promise<GcsAnswer> {
  const { bucket, name, headers, message, bodies, nowMs } = request;
  request.allow("storage.objects.create");
  if (bucket.objects.has(name)) request.allow("storage.objects.delete");
  checkName(name);
  checkLength(headers);
  const md5 = headers["content-md5"] ?? null;
  if (md5 !== null && Buffer.from(md5, "base64").length !== 16) {
    throw new GcsError(400, "InvalidDigest", "The Content-MD5 you specified was invalid.");
  }
  const piece = await bodies.store(message);
  try {
    const digests = await digestsOf(bodies, [piece]);
    if (md5 !== null && digests.md5 !== "" && md5 !== digests.md5) {
      const detail = "The Content-MD5 you specified did not match what we received.";
      throw new GcsError(400, "BadDigest", detail);
    }
    const contentType = headers["content-type"] ?? "application/octet-stream";
    const kmsKey = headers["x-goog-encryption-kms-key-name"] ?? null;
    const said = { contentType, metadata: {}, kmsKey };
    const announced = { name, ...said, md5, crc32c: null, ifGeneration: null };
    makeObject(bucket, announced, [piece], digests, nowMs);
    return {
      status: 200,
      headers: { "x-goog-hash": `crc32c=${digests.crc32c},md5=${digests.md5}` },
    };
  } catch (error) {
    await bodies.drop([piece]);
    throw error;
  }
}

function checkLength(headers: GcsRequest["headers"]): void {
  const length = headers["content-length"];
  if (length === undefined) throw new GcsError(411, "MissingContentLength", "It is missing.");
  const range = headers["x-goog-content-length-range"];
  if (range === undefined) return;
  const [least = 0, most = 0] = range.split(",").map(Number);
  if (Number(length) > most) throw new GcsError(400, "EntityTooLarge", `more than ${most} bytes`);
  if (Number(length) < least) throw new GcsError(400, "EntityTooSmall", `less than ${least} bytes`);
}
