/** The settings with which a service reaches object stores of checkpoints. */
import { z } from "zod";

/** For a service's zod schema, beside `connectionVariables`. */
export const storesVariables = {
  /** A file of mode 0600 with the platform's credentials; without it those of the environment or the instance count. */
  TRAINYARD_STORAGE_CREDENTIALS: z.string().min(1).optional(),
  TRAINYARD_STORAGE_REGION: z.string().min(1).optional(),
  /** The stores other than Amazon's that configurations may name: addresses with commas between. */
  TRAINYARD_STORAGE_ENDPOINTS: z.string().default(""),
};

export type StoresConfig = {
  readonly stores: {
    readonly credentialsFile: string | undefined;
    readonly region: string | undefined;
    readonly endpoints: readonly string[];
  };
};

export function storesOf(
  env: z.output<z.ZodObject<typeof storesVariables>>,
): StoresConfig["stores"] {
  return {
    credentialsFile: env.TRAINYARD_STORAGE_CREDENTIALS,
    region: env.TRAINYARD_STORAGE_REGION,
    endpoints: env.TRAINYARD_STORAGE_ENDPOINTS.split(",").map((one) => one.trim()),
  };
}
