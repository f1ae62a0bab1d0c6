/**
 * A model: versions, each a pinned checkpoint, and aliases, each of which names a version. Numbers are never reused: a
 * removed version keeps its number. Removing a version that an alias names is refused, so every alias names an existing
 * version.
 */
import type { EventOf } from "@trainyard/contracts";
import type { JsonObject } from "@trainyard/kernel";
import type { Versions } from "./versions.ts";

export type ModelEvent = EventOf<
  | "ModelCreated"
  | "ModelDescribed"
  | "ModelArchived"
  | "ModelUnarchived"
  | "ModelMoved"
  | "VersionRegistered"
  | "VersionDescribed"
  | "VersionRemoved"
  | "AliasMoved"
  | "AliasRemoved"
>;

/** Descriptions of a model or a version that people write. */
export type Words = {
  readonly description: string;
  readonly notes: string;
  readonly labels: readonly string[];
  readonly metadata: JsonObject;
};

export type Version = {
  readonly number: number;
  /** The semantic version; empty for none. */
  readonly semanticVersion: string;
  readonly checkpoint: string;
  readonly words: Words;
  readonly removed: boolean;
};

export type ModelState = {
  readonly exists: boolean;
  readonly archived: boolean;
  readonly workspace: string;
  readonly words: Words;
  readonly versions: Versions;
  /** The number of the version that each alias names. */
  readonly aliases: Readonly<Record<string, number>>;
};
