/** The settings with which a service reaches object stores of checkpoints. */
import { z } from "zod";

/** For a service's zod schema, beside `connectionVariables`. */
export const storesVariables = {
  /** A file of mode 0600 with the platform's credentials; without it those of the environment or the instance count. */
  TRAINYARD_STORAGE_CREDENTIALS: z.string().min(1).optional(),
  TRAINYARD_STORAGE_REGION: z.string().min(1).optional(),
  /** Of Google Cloud Storage, where it is not Google's: a private address of it, or a server that speaks its protocol. */
  TRAINYARD_STORAGE_GCS_ENDPOINT: z.url().optional(),
  /** The stores other than Amazon's that configurations may name: addresses with commas between. */
  TRAINYARD_STORAGE_ENDPOINTS: z.string().default(""),
  /**
   * A store that is silent for so long is away until the next try. Callers of a service wait for 5 s, and
   * an uploader asks again by itself.
   */
  TRAINYARD_STORAGE_SILENCE_SECONDS: z.coerce.number().positive().default(4),
};

/** Of one call of a service: a second one for a connection that broke; whoever asks comes again anyway. */
const attemptsMax = 2;

export type StoresConfig = {
  readonly stores: {
    readonly credentialsFile: string | undefined;
    readonly region: string | undefined;
    readonly gcsEndpoint: string | undefined;
    readonly endpoints: readonly string[];
    readonly patience: { readonly silenceMs: number; readonly attemptsMax: number };
  };
};

export function storesOf(
  env: z.output<z.ZodObject<typeof storesVariables>>,
): StoresConfig["stores"] {
  return {
    credentialsFile: env.TRAINYARD_STORAGE_CREDENTIALS,
    region: env.TRAINYARD_STORAGE_REGION,
    gcsEndpoint: env.TRAINYARD_STORAGE_GCS_ENDPOINT,
    endpoints: env.TRAINYARD_STORAGE_ENDPOINTS.split(",").map((one) => one.trim()),
    patience: { silenceMs: env.TRAINYARD_STORAGE_SILENCE_SECONDS * 1_000, attemptsMax },
  };
}
