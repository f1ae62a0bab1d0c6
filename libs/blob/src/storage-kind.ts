/** The forms of a row in the table of storage kinds. A row loads no vendor's library: `open` imports it. */
import type { Clock } from "@trainyard/kernel";
import type { ObjectStore } from "./objects/port.ts";

/** A checkpoint_storage section of an experiment's normalised configuration. */
export type CheckpointStorageSection = Readonly<Record<string, unknown>>;
export type Variables = Readonly<Record<string, string | undefined>>;

/** A kind of storage whose files are in a directory of the host. */
export type DirectoryKind = {
  /** The key of the configuration with the path that may be relative to the cluster's directory. */
  readonly pathKey: string;
  /** Returns the root of a storage; null if the section names none. */
  readonly root: (section: CheckpointStorageSection) => string | null;
};

/** `silenceMs` is the timeout of each attempt; `attemptsMax` counts all attempts of one call. */
export type StorePatience = { readonly silenceMs: number; readonly attemptsMax: number };

/** The options that every kind of object store has. */
export type StorePlace = Partial<StorePatience> & {
  readonly clock: Clock;
  readonly bucket: string;
  readonly prefix?: string;
  /** The endpoint that the configuration names. */
  readonly endpoint?: string;
  /** The validity of a planned request; default: the adapter's. */
  readonly planSeconds?: number;
};

/**
 * A kind of object store. `Settings` are the operator's, and `Credentials` the platform's. The functions that take them
 * are methods, so that one table can contain rows with different ones.
 */
export type ObjectStoreKind<
  Settings extends object = object,
  Credentials extends object = object,
> = {
  /** The scheme of an address: `<scheme>://bucket/prefix`. */
  readonly scheme: string;
  /** The key of the configuration with the bucket's name. */
  readonly bucketKey: string;
  /** The key of the configuration with the store's endpoint; null if only the operator chooses the endpoint. */
  readonly endpointKey: string | null;
  /** The variable with the operator's endpoint; null if the configuration has the endpoint. */
  readonly endpointVariable: string | null;
  /** Reads the operator's settings from a service's variables. Throws an error that names a wrong variable. */
  settings(variables: Variables): Settings;
  /** Reads the kind's mapping in the credentials file. Throws an error that does not quote a wrong mapping. */
  credentials(mapping: Readonly<Record<string, unknown>>): Credentials;
  open(place: StorePlace, settings: Settings, credentials?: Credentials): Promise<ObjectStore>;
};

export const textIn = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;
