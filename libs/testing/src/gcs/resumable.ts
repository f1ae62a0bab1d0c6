/**
 * Resumable uploads ("Resumable uploads" and "Perform resumable uploads" in Google's documentation). Beginning a
 * session needs credentials; its address accepts content without any, so the address is a secret. A request sends the
 * bytes from where the store's copy ends: all remaining ones, or a multiple of the chunk size. After an interrupted
 * request the store keeps a multiple of the chunk size. `bytes * /N` requests the number of stored bytes. Announced
 * digests are compared when all bytes have arrived; a session with different content is over.
 */
import { randomUUID } from "node:crypto";
import { PassThrough } from "node:stream";
import { GcsError } from "./errors.ts";
import { announcedIn } from "./objects.ts";
import { type GcsAnswer, type GcsRequest, jsonAnswer, jsonOf, textOf } from "./request.ts";
import { type GcsSession, resourceOf } from "./state.ts";
import { checkGeneration, digestsOf, makeObject } from "./store.ts";

export async function beginSession(request: GcsRequest): Promise<GcsAnswer> {
  const { bucket, headers, message, query, origin } = request;
  request.allow("storage.objects.create");
  const metadata = jsonOf(await textOf(message));
  const announced = announcedIn(metadata, request, headers["x-upload-content-type"]);
  checkGeneration(bucket, announced.name, announced.ifGeneration);
  const size = headers["x-upload-content-length"];
  const id = randomUUID();
  const bytes = size === undefined ? null : Number(size);
  bucket.sessions.set(id, { id, announced, bytes, pieces: [], state: "open", done: null });
  const name = encodeURIComponent(query.get("name") ?? announced.name);
  const path = `/upload/storage/v1/b/${encodeURIComponent(bucket.name)}/o`;
  const location = `${origin}${path}?uploadType=resumable&name=${name}&upload_id=${id}`;
  return { status: 200, headers: { location, "x-guploader-uploadid": id } };
}

export async function continueSession(request: GcsRequest): Promise<GcsAnswer> {
  const { bucket, query, method } = request;
  const session = bucket.sessions.get(query.get("upload_id") ?? "");
  if (session === undefined) throw new GcsError(410, "uploadNotFound", "The session is gone.");
  if (method === "DELETE") {
    session.state = session.state === "open" ? "cancelled" : session.state;
    await request.bodies.drop(session.done === null ? session.pieces : []);
    return { status: 499 };
  }
  if (session.state === "cancelled") throw new GcsError(499, "cancelled", "It was cancelled.");
  if (session.state === "failed") throw new GcsError(410, "uploadFailed", "The session failed.");
  if (session.done !== null) return jsonAnswer(resourceOf(bucket.name, session.done));
  return take(request, session);
}

type Range = {
  readonly first: number | null;
  /** Null if the range goes to the end of the content. */
  readonly last: number | null;
  readonly total: number | null;
};

/**
 * Parses `bytes 0-9/10`, `bytes 0-9/*`, `bytes * /10`, and `bytes 0-* /*` for all following content. Without a header
 * it is the whole content.
 */
function rangeIn(header: string | undefined, bytes: number): Range {
  if (header === undefined) return { first: 0, last: bytes - 1, total: bytes };
  const [, from] = /^bytes (\d+)-\*\/\*$/.exec(header) ?? [];
  if (from !== undefined) return { first: Number(from), last: null, total: null };
  const [, first, last, total] = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/.exec(header) ?? [];
  if (total === undefined) throw new GcsError(400, "invalid", `Content-Range: ${header}`);
  const size = total === "*" ? null : Number(total);
  if (first === undefined) return { first: null, last: -1, total: size };
  if (Number(last) - Number(first) + 1 !== bytes) {
    throw new GcsError(
      400,
      "invalid",
      `Content-Range is ${header}, and the content has ${bytes} bytes`,
    );
  }
  return { first: Number(first), last: Number(last), total: size };
}

async function take(request: GcsRequest, session: GcsSession): Promise<GcsAnswer> {
  const { headers, limits } = request;
  const length = headers["content-length"];
  if (length === undefined && headers["transfer-encoding"] === undefined) {
    throw new GcsError(411, "required", "Content-Length is missing");
  }
  const range = rangeIn(headers["content-range"], Number(length ?? 0));
  if (range.total !== null) {
    if (session.bytes !== null && session.bytes !== range.total) {
      throw new GcsError(400, "invalid", `the session is of ${session.bytes} bytes`);
    }
    session.bytes = range.total;
  }
  const there = bytesOf(session);
  if (range.first === null)
    return there === session.bytes ? finish(request, session) : soFar(there);
  if (range.first > there) {
    throw new GcsError(503, "backendError", `bytes are missing from ${there} on`);
  }
  const { first, last } = range;
  const isLast = last === null || last + 1 === range.total;
  if (!isLast && (last + 1 - first) % limits.chunkBytes !== 0) {
    throw new GcsError(400, "invalid", `a chunk is a multiple of ${limits.chunkBytes} bytes`);
  }
  const whole = await receive(request, session, there - range.first);
  if (!whole) return soFar(bytesOf(session));
  if (last === null) session.bytes = bytesOf(session);
  return bytesOf(session) === session.bytes ? finish(request, session) : soFar(bytesOf(session));
}

const bytesOf = ({ pieces }: GcsSession): number =>
  pieces.reduce((sum, piece) => sum + piece.bytes, 0);

function soFar(bytes: number): GcsAnswer {
  return { status: 308, headers: bytes === 0 ? {} : { range: `bytes=0-${bytes - 1}` } };
}

/**
 * Keeps the new bytes of the content; after an interruption only a multiple of the chunk size. Returns false if it was
 * interrupted.
 */
async function receive(request: GcsRequest, session: GcsSession, known: number): Promise<boolean> {
  const { message, bodies, limits } = request;
  const { chunkBytes } = limits;
  let skipped = 0;
  let broken = false;
  // The content is read at once, because bytes of an interrupted request would otherwise be lost with it.
  const arrived = message.pipe(new PassThrough());
  message.once("error", () => {
    broken = true;
    arrived.end();
  });
  async function* fresh(): AsyncGenerator<Uint8Array> {
    let held = Buffer.alloc(0);
    for await (const piece of arrived as AsyncIterable<Buffer>) {
      const from = Math.min(known - skipped, piece.length);
      skipped += from;
      held = Buffer.concat([held, piece.subarray(from)]);
      const whole = held.length - (held.length % chunkBytes);
      yield held.subarray(0, whole);
      held = held.subarray(whole);
    }
    if (!broken) yield held;
  }
  const before = session.pieces;
  const piece = await bodies.store(fresh());
  // A concurrent request may have stored the same bytes.
  if (session.state === "open" && session.pieces === before) session.pieces = [...before, piece];
  else await bodies.drop([piece]);
  return !broken;
}

async function finish(request: GcsRequest, session: GcsSession): Promise<GcsAnswer> {
  const { bucket, bodies, nowMs } = request;
  const digests = await digestsOf(bodies, session.pieces);
  try {
    session.done = makeObject(bucket, session.announced, session.pieces, digests, nowMs);
  } catch (error) {
    session.state = "failed";
    await bodies.drop(session.pieces);
    throw error;
  }
  session.state = "done";
  return jsonAnswer(resourceOf(bucket.name, session.done));
}
