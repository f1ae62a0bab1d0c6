/** The object operations of the JSON API: get, list, insert in one request, delete, rewrite. */
import {
  type GcsAnswer,
  contentOf,
  generationIn,
  type GcsRequest,
  jsonAnswer,
  jsonOf,
  textOf,
} from "./request.ts";
import { GcsError, noObject } from "./errors.ts";
import { type Announced, resourceOf } from "./state.ts";
import { checkGeneration, checkName, digestsOf, makeObject } from "./store.ts";

export async function getObject(request: GcsRequest): Promise<GcsAnswer> {
  const { bucket, name, query } = request;
  request.allow("storage.objects.get");
  // Without the right to list, an absent object and a hidden one give the same answer.
  if (!bucket.objects.has(name)) request.allow("storage.objects.list");
  const object = bucket.object(name);
  checkGeneration(bucket, name, generationIn(query, "ifGenerationMatch"));
  if (query.get("alt") !== "media") return jsonAnswer(resourceOf(bucket.name, object));
  const headers = {
    "content-type": object.contentType,
    "x-goog-generation": String(object.generation),
    "x-goog-hash": `crc32c=${object.digests.crc32c},md5=${object.digests.md5}`,
    "x-goog-stored-content-length": String(object.bytes),
  };
  return { status: 200, headers, content: contentOf(request, object) };
}

export async function listObjects(request: GcsRequest): Promise<GcsAnswer> {
  const { bucket, query, limits } = request;
  request.allow("storage.objects.list");
  const prefix = query.get("prefix") ?? "";
  const after = Buffer.from(query.get("pageToken") ?? "", "base64url");
  const max = Math.min(Number(query.get("maxResults") ?? limits.listedMax), limits.listedMax);
  const names = [...bucket.objects.keys()]
    .filter((name) => name.startsWith(prefix) && Buffer.from(name).compare(after) > 0)
    .toSorted((a, b) => Buffer.from(a).compare(Buffer.from(b)));
  const shown = names.slice(0, max);
  const last = shown.at(-1);
  const more = names.length > shown.length && last !== undefined;
  return jsonAnswer({
    kind: "storage#objects",
    ...(more ? { nextPageToken: Buffer.from(last).toString("base64url") } : {}),
    ...(shown.length === 0
      ? {}
      : { items: shown.map((name) => resourceOf(bucket.name, bucket.object(name))) }),
  });
}

export async function deleteObject(request: GcsRequest): Promise<GcsAnswer> {
  const { bucket, name, query, bodies } = request;
  request.allow("storage.objects.delete");
  const object = bucket.objects.get(name);
  if (object === undefined) throw noObject(bucket.name, name);
  checkGeneration(bucket, name, generationIn(query, "ifGenerationMatch"));
  bucket.objects.delete(name);
  await bodies.drop(object.pieces);
  return { status: 204 };
}

/** Parses the metadata of an upload; the name may be in the query. */
export function announcedIn(
  metadata: Readonly<Record<string, unknown>>,
  { query }: Pick<GcsRequest, "query">,
  contentType: string | undefined,
): Announced {
  const textAt = (key: string): string | null =>
    typeof metadata[key] === "string" ? metadata[key] : null;
  const name = textAt("name") ?? query.get("name") ?? "";
  checkName(name);
  return {
    name,
    contentType: textAt("contentType") ?? contentType ?? "application/octet-stream",
    metadata: (metadata["metadata"] as Record<string, string> | undefined) ?? {},
    kmsKey: query.get("kmsKeyName") ?? null,
    md5: textAt("md5Hash"),
    crc32c: textAt("crc32c"),
    ifGeneration: generationIn(query, "ifGenerationMatch"),
  };
}

/** Handles `uploadType=media` (content only) and `multipart` (metadata, then content). */
export async function insertObject(request: GcsRequest): Promise<GcsAnswer> {
  const { bucket, query, headers, message, bodies, nowMs } = request;
  request.allow("storage.objects.create");
  let content: AsyncIterable<Uint8Array> = message;
  let announced: Announced;
  if (query.get("uploadType") === "multipart") {
    const parts = await partsOf(headers["content-type"] ?? "", message);
    announced = announcedIn(jsonOf(parts.metadata), request, parts.contentType);
    content = (async function* () {
      yield parts.content;
    })();
  } else {
    announced = announcedIn({}, request, headers["content-type"]);
  }
  checkGeneration(bucket, announced.name, announced.ifGeneration);
  if (bucket.objects.has(announced.name)) request.allow("storage.objects.delete");
  const piece = await bodies.store(content);
  try {
    const digests = await digestsOf(bodies, [piece]);
    const object = makeObject(bucket, announced, [piece], digests, nowMs);
    return jsonAnswer(resourceOf(bucket.name, object));
  } catch (error) {
    await bodies.drop([piece]);
    throw error;
  }
}

/** Reads the parts of multipart/related (RFC 2387), for small objects only, as the API reference advises. */
async function partsOf(type: string, message: AsyncIterable<Uint8Array>) {
  const [, boundary] = /^multipart\/related;.*boundary="?([^";]+)"?/.exec(type) ?? [];
  if (boundary === undefined) {
    throw new GcsError(400, "badContent", "multipart/related needs a boundary");
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const all = Buffer.concat(chunks);
  const sections: Buffer[] = [];
  const mark = Buffer.from(`--${boundary}`);
  for (let at = all.indexOf(mark); at >= 0; ) {
    const next = all.indexOf(mark, at + mark.length);
    if (next < 0) break;
    sections.push(all.subarray(at + mark.length, next));
    at = next;
  }
  const [first, second, ...more] = sections.map((section) => {
    const end = section.indexOf("\r\n\r\n");
    return {
      head: section.subarray(0, Math.max(end, 0)).toString(),
      // Each part ends with a line break that belongs to the boundary.
      content: section.subarray(end + 4, section.length - 2),
    };
  });
  if (first === undefined || second === undefined || more.length > 0) {
    throw new GcsError(400, "badContent", "multipart/related has two parts");
  }
  const [, contentType] = /content-type:\s*(\S+)/i.exec(second.head) ?? [];
  return { metadata: first.content.toString(), content: second.content, contentType };
}

/** Copies inside the store, in several requests if necessary; each carries the previous one's token. */
export async function rewriteObject(
  request: GcsRequest,
  target: { readonly bucket: string; readonly name: string },
): Promise<GcsAnswer> {
  const { bucket, name, query, message, bodies, limits, nowMs } = request;
  request.allow("storage.objects.get");
  if (!bucket.objects.has(name)) request.allow("storage.objects.list");
  const source = bucket.object(name);
  request.allow("storage.objects.create");
  const metadata = jsonOf(await textOf(message));
  const into = request.otherBucket(target.bucket);
  const copied = Number(query.get("rewriteToken") ?? 0) + limits.rewrittenBytesMax;
  const sizes = { kind: "storage#rewriteResponse", objectSize: String(source.bytes) };
  if (copied < source.bytes) {
    const token = { rewriteToken: String(copied), totalBytesRewritten: String(copied) };
    return jsonAnswer({ ...sizes, ...token, done: false });
  }
  const said = announcedIn({ ...metadata, name: target.name }, request, source.contentType);
  const announced = { ...said, kmsKey: query.get("destinationKmsKeyName") ?? null };
  const pieces = await bodies.copyOf(source.pieces);
  const object = makeObject(into, announced, pieces, source.digests, nowMs);
  const done = { totalBytesRewritten: String(source.bytes), done: true };
  return jsonAnswer({ ...sizes, ...done, resource: resourceOf(into.name, object) });
}
