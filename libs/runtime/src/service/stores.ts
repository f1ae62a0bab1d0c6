/** The settings for object stores of checkpoints, except those of one kind of store, which libs/blob reads. */
import { z } from "zod";

/** The variables of the object stores, for a service's zod schema, in addition to `connectionVariables`. */
export const storesVariables = {
  /**
   * A file of mode 0600 with the platform's credentials; by default the credentials of the environment or the instance.
   */
  TRAINYARD_STORAGE_CREDENTIALS: z.string().min(1).optional(),
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

type Environment = z.output<z.ZodObject<typeof storesVariables>>;

export function storesOf(env: Environment): {
  readonly credentialsFile: string | undefined;
  readonly endpoints: readonly string[];
  readonly patience: { readonly silenceMs: number; readonly attemptsMax: number };
} {
  return {
    credentialsFile: env.TRAINYARD_STORAGE_CREDENTIALS,
    endpoints: env.TRAINYARD_STORAGE_ENDPOINTS.split(",").map((one) => one.trim()),
    patience: { silenceMs: env.TRAINYARD_STORAGE_SILENCE_SECONDS * 1_000, attemptsMax },
  };
}
