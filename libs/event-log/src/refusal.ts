/** Finds mistakes in a request that do not depend on the log's content. Both adapters check these first. */
import { isStorable } from "@trainyard/kernel";
import { logLimits } from "./limits.ts";
import type { AppendRequest, AppendResult, CursorMove, StreamWrite } from "./port.ts";

export type Refused = Extract<AppendResult, { kind: "refused" }>;

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const streamPattern = /^[a-z]+-./;
/** The form of a commit's cause, the same as `log.is_authid` in the migrations. */
const authidPattern = /^([a-z]+:)?[A-Za-z0-9._@+#-]+$/;
const { versionMax } = logLimits;

export const refused = (code: string, detail: string): Refused => ({
  kind: "refused",
  code,
  detail,
});
const invalid = (detail: string): Refused => refused("invalid", detail);

const isCount = (value: number, max: number = Number.MAX_SAFE_INTEGER): boolean =>
  Number.isInteger(value) && value >= 0 && value <= max;

function nameProblem(what: string, name: string): Refused | undefined {
  if (name.length === 0) return invalid(`${what} is empty`);
  if (Buffer.byteLength(name) > logLimits.nameBytesMax) {
    return invalid(`${what} is longer than ${logLimits.nameBytesMax} bytes`);
  }
  if (!isStorable(name)) return invalid(`${what} holds a character that cannot be stored`);
  return undefined;
}

function streamProblem(stream: string, version: number): Refused | undefined {
  const problem = nameProblem("the name of a stream", stream);
  if (problem !== undefined) return problem;
  if (!streamPattern.test(stream)) return invalid(`"${stream}" is not <category>-<id>`);
  if (!isCount(version, versionMax)) return invalid(`${version} is not a version of ${stream}`);
  return undefined;
}

function eventsProblem(write: StreamWrite): Refused | undefined {
  if (write.events.length === 0) return invalid(`nothing is written to ${write.stream}`);
  for (const event of write.events) {
    if (!uuidPattern.test(event.id)) return invalid(`"${event.id}" is not an event's id`);
    const problem = nameProblem("the type of an event", event.type);
    if (problem !== undefined) return problem;
    if (!isStorable(event.body)) {
      return invalid(`a body for ${write.stream} holds a character that cannot be stored`);
    }
    const bytes = Buffer.byteLength(event.body);
    if (bytes > logLimits.bodyBytesMax) {
      return refused(
        "body_too_large",
        `a body of ${bytes} bytes; at most ${logLimits.bodyBytesMax}`,
      );
    }
  }
  return undefined;
}

function cursorProblem(cursor: CursorMove): Refused | undefined {
  const problem = nameProblem("the name of a consumer", cursor.consumer);
  if (problem !== undefined) return problem;
  if (
    !isCount(cursor.partition, versionMax) ||
    !isCount(cursor.position) ||
    !isCount(cursor.part, versionMax)
  ) {
    return invalid(`a cursor of ${cursor.consumer} is not made of counts`);
  }
  for (const park of cursor.park ?? []) {
    if (!isCount(park.position)) return invalid(`${park.position} is not a position`);
    const keyProblem = nameProblem("the key of a parked event", park.key);
    if (keyProblem !== undefined) return keyProblem;
    if (!isStorable(park.reason))
      return invalid("a reason holds a character that cannot be stored");
  }
  for (const position of cursor.unpark ?? []) {
    if (!isCount(position)) return invalid(`${position} is not a position`);
  }
  return undefined;
}

function metaProblem(request: AppendRequest): Refused | undefined {
  if (!uuidPattern.test(request.commitId)) return invalid(`"${request.commitId}" is not a UUID`);
  for (const [name, text] of Object.entries(request.meta)) {
    if (!isStorable(text)) return invalid(`${name} holds a character that cannot be stored`);
    if (Buffer.byteLength(text) > logLimits.metaBytesMax) {
      return invalid(`${name} is longer than ${logLimits.metaBytesMax} bytes`);
    }
  }
  const { authid } = request.meta;
  if (authid !== "" && !(authidPattern.test(authid) && authid.length <= logLimits.authidBytesMax)) {
    return invalid(`"${authid}" is no authid: leave it empty, or give a name or kind:id`);
  }
  if (request.fence !== undefined && !isCount(request.fence.epoch)) {
    return invalid(`${request.fence.epoch} is not an epoch`);
  }
  return undefined;
}

/** Estimates the bytes of a request: all variable-length parts, plus a constant per row. */
export function bytesOf({ writes, guards, cursor, meta }: AppendRequest): number {
  let bytes = 256;
  for (const text of Object.values(meta)) bytes += text.length;
  for (const { stream, events } of writes) {
    for (const event of events) bytes += 128 + stream.length + Buffer.byteLength(event.body);
  }
  for (const { stream } of guards) bytes += 32 + stream.length;
  for (const { key, reason } of cursor?.park ?? []) {
    bytes += 64 + key.length + Math.min(reason.length, logLimits.parkReasonCharactersMax);
  }
  return bytes + 32 * (cursor?.unpark ?? []).length;
}

/** Returns undefined for a valid request. */
export function refusalOf(request: AppendRequest): Refused | undefined {
  const { writes, cursor, guards } = request;
  if (writes.length === 0 && cursor === undefined) {
    return refused("empty", "a commit has events or a cursor");
  }
  if (writes.length > logLimits.writesPerAppendMax) {
    return refused(
      "too_many_writes",
      `${writes.length} streams in one commit; at most ${logLimits.writesPerAppendMax}`,
    );
  }
  const problem = metaProblem(request);
  if (problem !== undefined) return problem;
  const streams = new Set<string>();
  for (const write of writes) {
    const bad = streamProblem(write.stream, write.expectedVersion) ?? eventsProblem(write);
    if (bad !== undefined) return bad;
    if (streams.has(write.stream)) {
      return refused("duplicate_stream", `${write.stream} is written twice in one commit`);
    }
    streams.add(write.stream);
  }
  for (const guard of guards) {
    const bad = streamProblem(guard.stream, guard.expectedVersion);
    if (bad !== undefined) return bad;
  }
  const bytes = bytesOf(request);
  if (bytes > logLimits.commitBytesMax) {
    return refused(
      "body_too_large",
      `a commit of ${bytes} bytes; at most ${logLimits.commitBytesMax}`,
    );
  }
  return cursor === undefined ? undefined : cursorProblem(cursor);
}
