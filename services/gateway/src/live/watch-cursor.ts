/** The cursor of a Watch stream: clients keep it and send it back, and it is opaque to them. */
import { createHash } from "node:crypto";
import type { Rights } from "@trainyard/access";
import { isPosition, type Place } from "./core/series.ts";

/** A position in the log, with the commit there, which identifies the log's history. */
export type LogPlace = { readonly position: number; readonly commitId: string };

export type WatchCursor = {
  readonly log: LogPlace;
  /** The time that relative times in filters count from; null without such times. */
  readonly nowMs: number | null;
  /** The names of the topics that began at their positions: the cursor is beyond those. */
  readonly begun: readonly string[];
  /** The places of points and lines, by the names of their topics. */
  readonly places: ReadonlyMap<string, Place>;
  /** A digest of what the caller sees; empty for a caller who sees everything. */
  readonly sight: string;
};

export const beginning: LogPlace = { position: 0, commitId: "" };

/** The form of names and epochs: short digests, so that a cursor of 64 topics fits into a header. */
const short = /^[\w-]{0,16}$/;

/** Returns the name of a topic in cursors. */
export const digestOf = (key: string): string =>
  createHash("sha256").update(key).digest("base64url").slice(0, 10);

/** Returns the digest in cursors of what a caller sees. */
export const sightOf = (rights: Rights): string => (rights.seesAll ? "" : digestOf(rights.sight));

export function textOfCursor({ log, nowMs, begun, places, sight }: WatchCursor): string {
  const rest = {
    ...(nowMs === null ? {} : { t: nowMs }),
    ...(begun.length === 0 ? {} : { b: begun }),
    ...(sight === "" ? {} : { v: sight }),
    ...(places.size === 0
      ? {}
      : { s: [...places].map(([name, { position, epoch }]) => [name, position, epoch]) }),
  };
  const parts = [log.position, log.commitId, ...(Object.keys(rest).length === 0 ? [] : [rest])];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** The most characters of a cursor; 64 topics need about 4,000. */
const cursorCharactersMax = 16_000;

/** Parses a cursor; null if it is invalid. */
export function readCursor(text: string): WatchCursor | null {
  if (text.length > cursorCharactersMax) return null;
  const [position, commitId, rest = {}] = arrayOf(
    jsonOf(Buffer.from(text, "base64url").toString()),
  );
  if (!isCount(position) || typeof commitId !== "string") return null;
  if (typeof rest !== "object" || rest === null) return null;
  const { t = null, b = [], s = [], v = "" } = rest as Readonly<Record<string, unknown>>;
  if (t !== null && !(isCount(t) && t <= lastTimeMs)) return null;
  const begun = arrayOf(b).filter((name) => typeof name === "string" && short.test(name));
  const places = arrayOf(s).map(placeOf);
  if (places.includes(null) || typeof v !== "string" || !short.test(v)) return null;
  return {
    log: { position, commitId },
    nowMs: t,
    begun: begun as string[],
    places: new Map(places.filter((place) => place !== null)),
    sight: v,
  };
}

/** The last time of ECMAScript, about the year 275,760. */
const lastTimeMs = 8.64e15;

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function placeOf(entry: unknown): readonly [string, Place] | null {
  const texts = arrayOf(entry).filter((part) => typeof part === "string");
  const [name = "", position = "", epoch = ""] = texts;
  if (texts.length !== 3 || !short.test(name) || !short.test(epoch)) return null;
  return isPosition(position) ? [name, { position, epoch }] : null;
}
