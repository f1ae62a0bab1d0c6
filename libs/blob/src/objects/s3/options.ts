import type { Clock } from "@trainyard/kernel";

export type S3Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** The end of temporary credentials. */
  readonly expiration?: Date;
};

/** With S3's own keys, or with one of the key management service: the account's own without `keyId`. */
export type S3Encryption =
  | { readonly kind: "s3" }
  | { readonly kind: "kms"; readonly keyId?: string };

export type S3StoreOptions = {
  readonly bucket: string;
  readonly clock: Clock;
  readonly prefix?: string;
  /** us-east-1 unless given; stores that are not Amazon's mostly take any. */
  readonly region?: string;
  /** The endpoint of a store that is not Amazon's: `https://host:port`. */
  readonly endpoint?: string;
  /** `endpoint/bucket/key` in place of `bucket.endpoint/key`. True where an endpoint is given, unless said. */
  readonly pathStyle?: boolean;
  /** How the store encrypts what it is given; without it, as the bucket says. */
  readonly encryption?: S3Encryption;
  /** Without them the SDK looks where it always does: environment, profile files, role of the instance or container. */
  readonly credentials?: S3Credentials;
  /** 64 MiB unless given; S3 takes 5 MiB to 5 GiB. */
  readonly partBytes?: number;
  /** Objects above it are copied in parts: 5 GiB, which is S3's limit, unless given. */
  readonly copyBytesMax?: number;
  /** How long a planned request holds: one hour unless given, seven days at most. */
  readonly planSeconds?: number;
  /** The attempts of one call, the first included: 5 unless given. */
  readonly attemptsMax?: number;
  /** A store that is silent for so long is away: two minutes unless given. */
  readonly silenceMs?: number;
  /**
   * The same while the store completes an upload or copies: two minutes unless given, and never less than `silenceMs`.
   */
  readonly workMs?: number;
};

/** With every default in it. */
export type S3Settings = Required<Omit<S3StoreOptions, "encryption" | "credentials" | "endpoint">> &
  Pick<S3StoreOptions, "encryption" | "credentials" | "endpoint">;

/** S3's limit of an upload. */
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
