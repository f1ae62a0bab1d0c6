import { z } from "zod";
import { TrustedProxies } from "./client-address.ts";
import type { Rate } from "./token-bucket.ts";

const perSecond = z.coerce.number().int().min(0).max(100_000);

/** The variables of the limits by rate, for the zod schema of the service. A rate of 0 is no limit. */
export const rateVariables = {
  /** The calls in a second of a user's token, of a run, and of an address without a valid token. */
  TRAINYARD_RATE_USER: perSecond.default(200),
  TRAINYARD_RATE_RUN: perSecond.default(50),
  TRAINYARD_RATE_ADDRESS: perSecond.default(200),
  /** The calls that each of them may make at once. */
  TRAINYARD_RATE_BURST: z.coerce.number().int().min(1).max(100_000).default(1_000),
  /** The proxies whose `X-Forwarded-For` counts. */
  TRAINYARD_TRUSTED_PROXIES: z.string().default("").refine(isListOfNetworks, {
    error: "must be networks or addresses such as 10.1.0.0/16, separated by commas",
  }),
};

export type RatesConfig = {
  /** Null for no limit. */
  readonly user: Rate | null;
  readonly run: Rate | null;
  readonly address: Rate | null;
};

export function ratesOf(env: z.infer<z.ZodObject<typeof rateVariables>>): RatesConfig {
  const burst = env.TRAINYARD_RATE_BURST;
  const rateOf = (calls: number): Rate | null => (calls === 0 ? null : { perSecond: calls, burst });
  return {
    user: rateOf(env.TRAINYARD_RATE_USER),
    run: rateOf(env.TRAINYARD_RATE_RUN),
    address: rateOf(env.TRAINYARD_RATE_ADDRESS),
  };
}

function isListOfNetworks(text: string): boolean {
  try {
    new TrustedProxies(text);
    return true;
  } catch {
    return false;
  }
}
