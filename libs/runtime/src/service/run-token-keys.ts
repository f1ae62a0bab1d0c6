/** The settings for the keys of run tokens. */
import { createSecretKey, type KeyObject } from "node:crypto";
import { z } from "zod";
import type { SigningKey } from "../run-token.ts";

/** The variables of the service that issues the tokens, for its zod schema, in addition to `connectionVariables`. */
export const signingVariables = {
  /** 32 random bytes. */
  TRAINYARD_RUN_TOKEN_KEY: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hex digits"),
  TRAINYARD_RUN_TOKEN_KEY_ID: z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/, "may have letters, digits, - and _")
    .default("1"),
};

/** The variables of a service that reads the tokens. */
export const runTokenVariables = {
  ...signingVariables,
  /** Other keys whose tokens are valid, for the time of a rotation: `ID=KEY`, separated by commas. */
  TRAINYARD_RUN_TOKEN_OTHER_KEYS: z
    .string()
    .regex(
      /^([A-Za-z0-9_-]+=[0-9a-f]{64}(,[A-Za-z0-9_-]+=[0-9a-f]{64})*)?$/,
      "must be ID=KEY, the key with 64 hex digits; several are separated by commas",
    )
    .default(""),
};

export function signingKeyOf(env: z.output<z.ZodObject<typeof signingVariables>>): SigningKey {
  const { TRAINYARD_RUN_TOKEN_KEY_ID: id, TRAINYARD_RUN_TOKEN_KEY: key } = env;
  return { id, secret: Buffer.from(key, "hex") };
}

/** Returns the valid keys by id. The service's own key wins over another one with its id. */
export function runTokenKeysOf(
  env: z.output<z.ZodObject<typeof runTokenVariables>>,
): ReadonlyMap<string, KeyObject> {
  const others = env.TRAINYARD_RUN_TOKEN_OTHER_KEYS.split(",").filter((one) => one !== "");
  const own = `${env.TRAINYARD_RUN_TOKEN_KEY_ID}=${env.TRAINYARD_RUN_TOKEN_KEY}`;
  return new Map(
    [...others, own].map((one) => {
      const [id = "", key = ""] = one.split("=");
      return [id, createSecretKey(key, "hex")];
    }),
  );
}
