/** Sends a file to an object store by its own plan of signed requests, so that every kind of store streams alike. */
import type { FileHandle } from "node:fs/promises";
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isFault } from "@trainyard/kernel";
import { away, refused } from "./faults.ts";
import type { FileDigests, ObjectStore, PlannedPart, PlannedRequest } from "./port.ts";
import { readRange } from "./read-range.ts";
import { storeReason } from "./store-reason.ts";

/** A store that neither takes nor sends a byte for this time is unavailable. */
const silenceMs = 30_000;
/** A plan that was repeated leaves out what the store has. */
const attemptsMax = 3;

/** Returns whether anything was sent: false if the store had the file already. */
export async function sendFile(
  store: ObjectStore,
  key: string,
  file: FileHandle,
  digests: FileDigests,
): Promise<boolean> {
  let isSent = false;
  for (let attempt = 1; ; attempt += 1) {
    const { kind, missing, parts } = await store.planUpload(key, digests);
    if (kind === "single" && missing.parts === 0) return isSent;
    isSent ||= parts.length > 0;
    try {
      for (const part of parts) await sendPart(store, key, file, part);
      await store.finishUpload(key, digests);
      return isSent;
    } catch (error) {
      const mayPass = isFault(error) && error.retry === "later";
      if (!mayPass || attempt === attemptsMax) throw error;
    }
  }
}

async function sendPart(
  { address }: ObjectStore,
  key: string,
  file: FileHandle,
  { offset, bytes, request }: PlannedPart,
): Promise<void> {
  const doing = `write ${key}`;
  const content = Readable.from(readRange(file, offset, bytes), { objectMode: false });
  let answer: Answer;
  try {
    answer = await send(request, content, bytes);
  } catch (error) {
    throw away(address, doing, error instanceof Error ? error.message : String(error), error);
  }
  const { status, said } = answer;
  if (request.accepted.includes(status)) return;
  const why = `it answers ${status}${said === "" ? "" : ` (${said})`}`;
  // Another status may pass with the next plan: an upload of parts may have been ended by another process.
  const isRefusal = status === 401 || status === 403;
  throw isRefusal ? refused(address, doing, why) : away(address, doing, why);
}

type Answer = { readonly status: number; readonly said: string };

async function send(planned: PlannedRequest, content: Readable, bytes: number): Promise<Answer> {
  const { method, url } = planned;
  const begin = url.startsWith("https:") ? tlsRequest : plainRequest;
  const headers = { ...planned.headers, "content-length": bytes };
  const sent = begin(url, { method, headers, timeout: silenceMs });
  const answered = Promise.withResolvers<IncomingMessage>();
  sent.on("response", answered.resolve).on("error", answered.reject);
  sent.on("timeout", () => sent.destroy(new Error(`no answer came within ${silenceMs / 1_000} s`)));
  // A store that refuses may answer and close the connection before it has taken all.
  await pipeline(content, sent).catch(answered.reject);
  const response = await answered.promise;
  return { status: response.statusCode ?? 0, said: await storeReason(response) };
}
