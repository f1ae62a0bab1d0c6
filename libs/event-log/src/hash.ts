/** Computes the hash of a commit, format 1, as `migrations/0001_first/functions/append.sql` defines it. */
import { createHash, hash } from "node:crypto";
import type { CommitMeta } from "./port.ts";

export type HashedEvent = {
  readonly stream: string;
  readonly version: number;
  readonly id: string;
  readonly type: string;
  /** The SHA-256 of the body's UTF-8, in hex. */
  readonly bodySha256: string;
};

export type HashedCommit = {
  readonly position: number;
  readonly timeMs: number;
  readonly commitId: string;
  /** The metadata, as `metaText` formats it. */
  readonly meta: string;
  readonly cursor: {
    readonly consumer: string;
    readonly partition: number;
    readonly position: number;
    readonly part: number;
  } | null;
  readonly events: readonly HashedEvent[];
};

/** The hash before the first commit. */
export const genesis: Uint8Array = new Uint8Array(32);

/** Returns the stored text of a commit's attributes. */
export function metaText(meta: CommitMeta): string {
  const { source, workspace, correlationid, causationid, authid, traceparent } = meta;
  return JSON.stringify({ source, workspace, correlationid, causationid, authid, traceparent });
}

export function sha256Hex(text: string): string {
  return hash("sha256", text, "hex");
}

const netstring = (text: string): string => `${Buffer.byteLength(text)}:${text}`;

export function commitHash(previous: Uint8Array, commit: HashedCommit): Uint8Array {
  const { meta, cursor } = commit;
  const lines = [
    `trainyard-commit/1 ${commit.position} ${commit.events.length} ${commit.timeMs} ${commit.commitId}`,
    netstring(meta),
    cursor === null
      ? "-"
      : `${cursor.partition} ${cursor.position} ${cursor.part} ${netstring(cursor.consumer)}`,
    ...commit.events.map(
      (event) =>
        `${event.version} ${event.id} ${event.bodySha256} ${netstring(event.stream)}${netstring(event.type)}`,
    ),
    "",
  ];
  return createHash("sha256").update(previous).update(lines.join("\n")).digest();
}
