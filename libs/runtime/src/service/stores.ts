/** The settings for object stores of checkpoints. */
import { z } from "zod";

/** The variables of the object stores, for a service's zod schema, in addition to `connectionVariables`. */
export const storesVariables = {
  /**
   * A file of mode 0600 with the platform's credentials; by default the credentials of the environment or the instance.
   */
  TRAINYARD_STORAGE_CREDENTIALS: z.string().min(1).optional(),
  TRAINYARD_STORAGE_REGION: z.string().min(1).optional(),
  /** The encryption of checkpoints in S3; default: the bucket's setting. */
  TRAINYARD_STORAGE_S3_ENCRYPTION: z.enum(["s3", "kms"]).optional(),
  /** The id of the key for `kms`; default: the account's key. */
  TRAINYARD_STORAGE_S3_KMS_KEY: z.string().min(1).optional(),
  /** The name of the Cloud KMS key for checkpoints; default: the bucket's setting. */
  TRAINYARD_STORAGE_GCS_KMS_KEY: z.string().min(1).optional(),
  /**
   * The endpoint of Google Cloud Storage if it is not Google's: a private address, or a server with the same protocol.
   */
  TRAINYARD_STORAGE_GCS_ENDPOINT: z.url().optional(),
  /** The stores other than Amazon's that configurations may name: addresses separated by commas. */
  TRAINYARD_STORAGE_ENDPOINTS: z.string().default(""),
  /**
   * The time after which a silent store counts as unavailable until the next request. Callers of a service wait for 5
   * s, and an uploader retries by itself.
   */
  TRAINYARD_STORAGE_SILENCE_SECONDS: z.coerce.number().positive().default(4),
};

/** Attempts of one call of a service: the second is for a broken connection. The caller retries anyway. */
const attemptsMax = 2;

export type StoresConfig = {
  readonly stores: {
    readonly credentialsFile: string | undefined;
    readonly region: string | undefined;
    readonly s3Encryption:
      | { readonly kind: "s3" }
      | { readonly kind: "kms"; readonly keyId?: string }
      | undefined;
    readonly gcsKmsKey: string | undefined;
    readonly gcsEndpoint: string | undefined;
    readonly endpoints: readonly string[];
    readonly patience: { readonly silenceMs: number; readonly attemptsMax: number };
  };
};

type Environment = z.output<z.ZodObject<typeof storesVariables>>;

function s3EncryptionOf({
  TRAINYARD_STORAGE_S3_ENCRYPTION: kind,
  TRAINYARD_STORAGE_S3_KMS_KEY: keyId,
}: Environment): StoresConfig["stores"]["s3Encryption"] {
  if (kind === "s3" && keyId !== undefined) {
    throw new Error("TRAINYARD_STORAGE_S3_KMS_KEY needs TRAINYARD_STORAGE_S3_ENCRYPTION=kms");
  }
  if (kind === "s3") return { kind };
  if (kind === undefined && keyId === undefined) return undefined;
  return { kind: "kms", ...(keyId === undefined ? {} : { keyId }) };
}

export function storesOf(env: Environment): StoresConfig["stores"] {
  return {
    credentialsFile: env.TRAINYARD_STORAGE_CREDENTIALS,
    region: env.TRAINYARD_STORAGE_REGION,
    s3Encryption: s3EncryptionOf(env),
    gcsKmsKey: env.TRAINYARD_STORAGE_GCS_KMS_KEY,
    gcsEndpoint: env.TRAINYARD_STORAGE_GCS_ENDPOINT,
    endpoints: env.TRAINYARD_STORAGE_ENDPOINTS.split(",").map((one) => one.trim()),
    patience: { silenceMs: env.TRAINYARD_STORAGE_SILENCE_SECONDS * 1_000, attemptsMax },
  };
}
