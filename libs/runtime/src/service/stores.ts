/** The settings with which a service reaches object stores of checkpoints. */
import { z } from "zod";

/** For a service's zod schema, beside `connectionVariables`. */
export const storesVariables = {
  /** A file of mode 0600 with the platform's credentials; without it those of the environment or the instance count. */
  TRAINYARD_STORAGE_CREDENTIALS: z.string().min(1).optional(),
  TRAINYARD_STORAGE_REGION: z.string().min(1).optional(),
};

export type StoresConfig = {
  readonly stores: {
    readonly credentialsFile: string | undefined;
    readonly region: string | undefined;
  };
};

export function storesOf(
  env: z.output<z.ZodObject<typeof storesVariables>>,
): StoresConfig["stores"] {
  return {
    credentialsFile: env.TRAINYARD_STORAGE_CREDENTIALS,
    region: env.TRAINYARD_STORAGE_REGION,
  };
}
