/** Converts a batch of commits to the parameters of `log.append`, and its rows to results. */
import { metaText } from "../hash.ts";
import { logLimits } from "../limits.ts";
import type { AppendRequest, AppendResult, WrittenStream } from "../port.ts";
import { plainArray, textArray } from "./arrays.ts";

const parameters = Array.from({ length: 26 }, (_, index) => `$${index + 1}`).join(",");

export const appendStatement = `select ordinal, outcome, position, detail from log.append(${parameters})`;

export function appendQuery(batch: readonly AppendRequest[]) {
  return { name: "append", text: appendStatement, values: appendArguments(batch) };
}

type Texts = (string | null)[];
type Numbers = (number | string | null)[];

/** Returns the arguments, column by column, in the order of the function's parameters. */
export function appendArguments(batch: readonly AppendRequest[]): (Buffer | string)[] {
  const events = { commits: [] as Numbers, streams: [] as Texts, versions: [] as Numbers };
  const ids: Numbers = [];
  const types: Texts = [];
  const bodies: Texts = [];
  const guards = { commits: [] as Numbers, streams: [] as Texts, versions: [] as Numbers };
  const parks = { commits: [] as Numbers, positions: [] as Numbers, keys: [] as Texts };
  const reasons: Texts = [];
  const unparks = { commits: [] as Numbers, positions: [] as Numbers };
  batch.forEach((request, index) => {
    const ordinal = index + 1;
    for (const { stream, expectedVersion, events: written } of request.writes) {
      let version = expectedVersion;
      for (const event of written) {
        version += 1;
        events.commits.push(ordinal);
        events.streams.push(stream);
        events.versions.push(version);
        ids.push(event.id);
        types.push(event.type);
        bodies.push(event.body);
      }
    }
    for (const guard of request.guards) {
      guards.commits.push(ordinal);
      guards.streams.push(guard.stream);
      guards.versions.push(guard.expectedVersion);
    }
    for (const park of request.cursor?.park ?? []) {
      parks.commits.push(ordinal);
      parks.positions.push(park.position);
      parks.keys.push(park.key);
      reasons.push(park.reason.slice(0, logLimits.parkReasonCharactersMax));
    }
    for (const position of request.cursor?.unpark ?? []) {
      unparks.commits.push(ordinal);
      unparks.positions.push(position);
    }
  });
  return [
    ...commitArguments(batch),
    plainArray(events.commits),
    textArray(events.streams),
    plainArray(events.versions),
    plainArray(ids),
    textArray(types),
    textArray(bodies),
    plainArray(guards.commits),
    textArray(guards.streams),
    plainArray(guards.versions),
    plainArray(parks.commits),
    plainArray(parks.positions),
    textArray(parks.keys),
    textArray(reasons),
    plainArray(unparks.commits),
    plainArray(unparks.positions),
    textArray(batch.map((request) => request.fence?.owner ?? null)),
    plainArray(batch.map((request) => request.seen?.position ?? null)),
    plainArray(batch.map((request) => request.seen?.id ?? null)),
  ];
}

function commitArguments(batch: readonly AppendRequest[]): (Buffer | string)[] {
  return [
    plainArray(batch.map((request) => request.commitId)),
    textArray(batch.map((request) => metaText(request.meta))),
    textArray(batch.map((request) => request.fence?.lease ?? null)),
    plainArray(batch.map((request) => request.fence?.epoch ?? null)),
    textArray(batch.map((request) => request.cursor?.consumer ?? null)),
    plainArray(batch.map((request) => request.cursor?.partition ?? null)),
    plainArray(batch.map((request) => request.cursor?.position ?? null)),
    plainArray(batch.map((request) => request.cursor?.part ?? null)),
  ];
}

type Detail = {
  readonly streams?: readonly (readonly [string, number])[];
  readonly stream?: string;
  readonly expected?: number;
  readonly actual?: number;
  readonly position?: number;
  readonly part?: number;
  readonly code?: string;
  readonly detail?: string;
};
export type AppendRow = readonly [
  ordinal: number,
  outcome: string,
  position: number | null,
  detail: Detail | null,
];

const writtenStreams = (request: AppendRequest): readonly WrittenStream[] =>
  request.writes.map(({ stream, expectedVersion, events }) => ({
    stream,
    version: expectedVersion + events.length,
  }));

function resultOf(request: AppendRequest, row: AppendRow): AppendResult {
  const [, outcome, position, detail] = row;
  switch (outcome) {
    case "committed":
      return {
        kind: "committed",
        position: position ?? 0,
        streams: writtenStreams(request),
        repeated: false,
      };
    case "repeated": {
      const streams = (detail?.streams ?? []).map(([stream, version]) => ({ stream, version }));
      return { kind: "committed", position: position ?? 0, streams, repeated: true };
    }
    case "conflict":
      return {
        kind: "conflict",
        stream: detail?.stream ?? "",
        expectedVersion: detail?.expected ?? 0,
        actualVersion: detail?.actual ?? 0,
      };
    case "stale_fence":
      return {
        kind: "stale_fence",
        lease: request.fence?.lease ?? "",
        epoch: request.fence?.epoch ?? 0,
      };
    case "cursor_behind":
      return {
        kind: "cursor_behind",
        position: detail?.position ?? 0,
        part: detail?.part ?? 0,
      };
    default:
      return { kind: "refused", code: detail?.code ?? outcome, detail: detail?.detail ?? "" };
  }
}

/** Returns one result per request, in order. */
export function appendResults(
  batch: readonly AppendRequest[],
  rows: readonly AppendRow[],
): readonly AppendResult[] {
  const byOrdinal = new Map(rows.map((row) => [row[0], row]));
  const firstOf = new Map<string, AppendResult>();
  return batch.map((request, index) => {
    const row = byOrdinal.get(index + 1);
    if (row === undefined) throw new RangeError(`the database skipped commit ${index + 1}`);
    // The database returns no result for a repeat within the same batch: it is the first commit's.
    const first = firstOf.get(request.commitId);
    if (row[1] === "repeated" && row[2] === null && first?.kind === "committed") {
      return { ...first, repeated: true };
    }
    const result = resultOf(request, row);
    if (result.kind === "committed") firstOf.set(request.commitId, result);
    return result;
  });
}
