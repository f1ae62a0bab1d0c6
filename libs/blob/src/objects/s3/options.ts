import type { Clock } from "@trainyard/kernel";

export type S3Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** The expiry of temporary credentials. */
  readonly expiration?: Date;
};

/** "s3": encryption with S3's keys. "kms": with a key of the key management service, by default the account's. */
export type S3Encryption =
  | { readonly kind: "s3" }
  | { readonly kind: "kms"; readonly keyId?: string };

export type S3StoreOptions = {
  readonly bucket: string;
  readonly clock: Clock;
  readonly prefix?: string;
  /** The region; default: us-east-1. Most stores other than Amazon's accept any. */
  readonly region?: string;
  /** The endpoint of a store other than Amazon's: `https://host:port`. */
  readonly endpoint?: string;
  /** Uses `endpoint/bucket/key` in place of `bucket.endpoint/key`; default: true if `endpoint` is set. */
  readonly pathStyle?: boolean;
  /** The encryption of stored objects; default: the bucket's setting. */
  readonly encryption?: S3Encryption;
  /** By default the SDK searches the usual places: environment, profile files, role of the instance or container. */
  readonly credentials?: S3Credentials;
  /** The size of a part; default: 64 MiB. S3 accepts 5 MiB to 5 GiB. */
  readonly partBytes?: number;
  /** Larger objects are copied in parts; default: 5 GiB, S3's limit. */
  readonly copyBytesMax?: number;
  /** The validity of a planned request: one hour by default, seven days at most. */
  readonly planSeconds?: number;
  /** The maximum attempts of one call, including the first; default: 5. */
  readonly attemptsMax?: number;
  /** The time without an answer after which a request times out; default: two minutes. */
  readonly silenceMs?: number;
  /**
   * The time without an answer after which a completion or copy request times out; default: two minutes, at least
   * `silenceMs`.
   */
  readonly workMs?: number;
};

/** The options with all defaults filled in. */
export type S3Settings = Required<Omit<S3StoreOptions, "encryption" | "credentials" | "endpoint">> &
  Pick<S3StoreOptions, "encryption" | "credentials" | "endpoint">;

/** S3's maximum number of parts in an upload. */
export const partsMax = 10_000;

export function settingsOf(options: S3StoreOptions): S3Settings {
  return {
    prefix: "",
    region: "us-east-1",
    pathStyle: options.endpoint !== undefined,
    partBytes: 64 * 1_024 ** 2,
    copyBytesMax: 5 * 1_024 ** 3,
    planSeconds: 3_600,
    attemptsMax: 5,
    silenceMs: 120_000,
    workMs: 120_000,
    ...options,
  };
}
