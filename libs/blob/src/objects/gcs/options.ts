import type { Clock } from "@trainyard/kernel";

/** The two fields of a service account's key file that sign. */
export type GcsCredentials = { readonly clientEmail: string; readonly privateKey: string };

export type GcsStoreOptions = {
  readonly bucket: string;
  readonly clock: Clock;
  readonly prefix?: string;
  /** Google's unless given: `https://host:port`. */
  readonly endpoint?: string;
  /**
   * Without them the client looks where it always does: GOOGLE_APPLICATION_CREDENTIALS, gcloud's, the instance's
   * account.
   */
  readonly credentials?: GcsCredentials;
  /** The name of a key of Cloud KMS that encrypts what is stored; without it, as the bucket says. */
  readonly kmsKey?: string;
  /** The largest file that is sent in one request: 64 MiB unless given. */
  readonly partBytes?: number;
  /** How long a planned request holds: one hour unless given, seven days at most. */
  readonly planSeconds?: number;
  /** The attempts of one call, the first included: 5 unless given. */
  readonly attemptsMax?: number;
  /** A store that is silent for so long is away: two minutes unless given. */
  readonly silenceMs?: number;
  /** The same while the store copies: two minutes unless given, and never less than `silenceMs`. */
  readonly workMs?: number;
};

/** With every default in it. */
export type GcsSettings = Required<Omit<GcsStoreOptions, "credentials" | "kmsKey">> &
  Pick<GcsStoreOptions, "credentials" | "kmsKey">;

/**
 * The maximum of digest parts: a file of 5 TiB, the store's limit, has as many in parts of 64 MiB, and S3 takes no
 * more.
 */
export const partsMax = 10_000;

export function settingsOf(options: GcsStoreOptions): GcsSettings {
  return {
    prefix: "",
    endpoint: "https://storage.googleapis.com",
    partBytes: 64 * 1_024 ** 2,
    planSeconds: 3_600,
    attemptsMax: 5,
    silenceMs: 120_000,
    workMs: 120_000,
    ...options,
  };
}
