import { TrustedProxies } from "../rates/client-address.ts";
import type { Origin } from "../rates/rates.ts";
import type { Caller } from "../http/caller.ts";

/** Limits nothing by its rate, and trusts no proxy. */
export const withoutRates = {
  rates: { counting: (identify: () => Promise<Caller>) => identify() },
  proxies: new TrustedProxies(""),
};

/** Where a request comes from that only a test makes. */
export const here: Origin = { address: "127.0.0.1" };
