/** The state of a store: buckets, their objects, and unfinished resumable sessions. */
import type { Piece } from "../http/bodies.ts";
import { noObject } from "./errors.ts";

/** Digests in base64. */
export type GcsDigests = { readonly md5: string; readonly crc32c: string };

export type GcsObject = {
  readonly name: string;
  readonly pieces: readonly Piece[];
  readonly bytes: number;
  readonly digests: GcsDigests;
  readonly contentType: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The name of the Cloud KMS key; null for the store's key. */
  readonly kmsKey: string | null;
  readonly generation: number;
  readonly updatedMs: number;
};

/** The properties of an object, from the beginning of its upload. */
export type Announced = {
  readonly name: string;
  readonly contentType: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly kmsKey: string | null;
  readonly md5: string | null;
  readonly crc32c: string | null;
  /** The required generation: null for any, 0 for an absent object. */
  readonly ifGeneration: number | null;
};

export type GcsSession = {
  readonly id: string;
  readonly announced: Announced;
  /** Null if the size was not announced. */
  bytes: number | null;
  pieces: Piece[];
  state: "open" | "done" | "cancelled" | "failed";
  done: GcsObject | null;
};

export class GcsBucket {
  readonly name: string;
  readonly objects = new Map<string, GcsObject>();
  readonly sessions = new Map<string, GcsSession>();
  #generation = 1_700_000_000_000_000;

  constructor(name: string) {
    this.name = name;
  }

  nextGeneration(): number {
    this.#generation += 1;
    return this.#generation;
  }

  object(name: string): GcsObject {
    const object = this.objects.get(name);
    if (object === undefined) throw noObject(this.name, name);
    return object;
  }
}

/** Returns the object as a JSON API resource. */
export function resourceOf(bucket: string, object: GcsObject): object {
  const { name, bytes, digests, contentType, metadata, kmsKey, generation, updatedMs } = object;
  const at = new Date(updatedMs).toISOString();
  return {
    kind: "storage#object",
    id: `${bucket}/${name}/${generation}`,
    name,
    bucket,
    generation: String(generation),
    metageneration: "1",
    contentType,
    storageClass: "STANDARD",
    size: String(bytes),
    md5Hash: digests.md5,
    crc32c: digests.crc32c,
    etag: `"${generation}"`,
    timeCreated: at,
    updated: at,
    ...(kmsKey === null ? {} : { kmsKeyName: `${kmsKey}/cryptoKeyVersions/1` }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}
