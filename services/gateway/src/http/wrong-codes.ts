import { LRUCache } from "lru-cache";
import { Problem } from "../http/problem.ts";
import { httpLimits } from "./limits.ts";

const wrongCodeAddressesMax = 10_000;

/**
 * Counts the wrong codes of each address, and refuses an address with too many in a minute. A code has 256 random bits,
 * so this only limits the work that guesses cause; each replica counts separately. Behind a proxy all clients share one
 * address.
 */
export class WrongCodes {
  readonly #of = new LRUCache<string, number>({
    max: wrongCodeAddressesMax,
    ttl: 60_000,
  });

  /** Throws a Problem of 429 if the address has to wait. */
  admit(address: string): void {
    if ((this.#of.get(address) ?? 0) < httpLimits.wrongCodesMax) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(this.#of.getRemainingTTL(address) / 1_000));
    const detail = `too many wrong codes came from this address; try again in ${retryAfterSeconds} s`;
    throw new Problem(429, "too_many_codes", detail, { retryAfterSeconds });
  }

  count(address: string): void {
    this.#of.set(address, (this.#of.get(address) ?? 0) + 1, { noUpdateTTL: true });
  }
}
