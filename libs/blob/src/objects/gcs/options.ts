import type { Clock } from "@trainyard/kernel";

/** The two signing fields of a service account's key file. */
export type GcsCredentials = { readonly clientEmail: string; readonly privateKey: string };

export type GcsStoreOptions = {
  readonly bucket: string;
  readonly clock: Clock;
  readonly prefix?: string;
  /** The store's address, `https://host:port`; default: Google's. */
  readonly endpoint?: string;
  /**
   * By default the client searches the usual places: GOOGLE_APPLICATION_CREDENTIALS, gcloud's configuration, the
   * instance's service account.
   */
  readonly credentials?: GcsCredentials;
  /** The Cloud KMS key that encrypts stored objects; default: the bucket's setting. */
  readonly kmsKey?: string;
  /** The largest file that is sent in one request; default: 64 MiB. */
  readonly partBytes?: number;
  /** The validity of a planned request: one hour by default, seven days at most. */
  readonly planSeconds?: number;
  /** The maximum attempts of one call, including the first; default: 5. */
  readonly attemptsMax?: number;
  /** The time without an answer after which a request times out; default: two minutes. */
  readonly silenceMs?: number;
  /** The time without an answer after which a copy request times out; default: two minutes, at least `silenceMs`. */
  readonly workMs?: number;
};

/** The options with all defaults filled in. */
export type GcsSettings = Required<Omit<GcsStoreOptions, "credentials" | "kmsKey">> &
  Pick<GcsStoreOptions, "credentials" | "kmsKey">;

/**
 * The most parts of a file whose digests are computed: the largest file of the store, 5 TiB, has fewer parts of 64 MiB,
 * and S3 accepts no more than this number.
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
