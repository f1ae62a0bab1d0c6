import { LRUCache } from "lru-cache";
import { Problem } from "../http/problem.ts";
import { siteOf } from "../rates/client-address.ts";
import { httpLimits } from "./limits.ts";

const wrongCodeAddressesMax = 10_000;

/**
 * Counts the wrong codes of each client's address, or of the /64 of one of IPv6, and tells one with too many in a
 * minute to wait. A right code is never refused: behind a proxy all clients may share one address. Each replica counts
 * separately.
 */
export class WrongCodes {
  readonly #of = new LRUCache<string, number>({
    max: wrongCodeAddressesMax,
    ttl: 60_000,
  });

  /** Counts a wrong code. Throws a Problem of 429 if the address has sent too many. */
  count(address: string): void {
    const site = siteOf(address);
    const count = (this.#of.get(site) ?? 0) + 1;
    this.#of.set(site, count, { noUpdateTTL: true });
    if (count <= httpLimits.wrongCodesMax) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(this.#of.getRemainingTTL(site) / 1_000));
    const detail = `too many wrong codes came from this address; try again in ${retryAfterSeconds} s`;
    throw new Problem(429, "too_many_codes", detail, { retryAfterSeconds });
  }
}
