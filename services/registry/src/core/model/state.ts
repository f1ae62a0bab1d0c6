/**
 * A model: versions, each a pinned checkpoint, and aliases that name one of them. A number is given once and never
 * again; a removed version keeps its number. Every alias names a version that is not removed: removing one that an
 * alias names is refused.
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

/** The words of people about a model or a version. */
export type Words = {
  readonly description: string;
  readonly notes: string;
  readonly labels: readonly string[];
  readonly metadata: JsonObject;
};

export type Version = {
  readonly number: number;
  /** Empty for none. */
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
