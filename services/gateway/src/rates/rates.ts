/**
 * Limits the calls of each caller by a token bucket. A caller with a valid token or session has a bucket of its own,
 * and only a request without one counts under its address: runs and people behind one address never share a bucket.
 */
import { createHash } from "node:crypto";
import { Problem } from "@trainyard/runtime";
import { siteOf } from "./client-address.ts";
import type { RatesConfig } from "./config.ts";
import type { SharedState } from "./shared-state.ts";
import { leftIn, microsOfToken, nextInMicros, type Rate, type Taken } from "./token-bucket.ts";

/** A bucket: the kind of its callers, which has a rate, and the name of its own caller. */
export type Bucket = { readonly kind: keyof RatesConfig; readonly name: string };

/** The place that a request comes from. */
export type Origin = {
  /** The address of its client. */
  readonly address: string;
  /** Adds headers to its answer, also to a refusal. */
  readonly setHeaders?: (headers: Readonly<Record<string, string>>) => void;
};

export type RatesDeps<Caller> = {
  readonly rates: RatesConfig;
  readonly state: SharedState;
  readonly clusterId: () => string;
  /** Returns the bucket of a caller; null for one without a token. */
  readonly bucketOf: (caller: Caller) => Bucket | null;
};

const callers: Readonly<Record<Bucket["kind"], string>> = {
  user: "this token",
  run: "this run",
  address: "requests without a valid token from this address",
};

export class Rates<Caller> {
  readonly #deps: RatesDeps<Caller>;

  constructor(deps: RatesDeps<Caller>) {
    this.#deps = deps;
  }

  /**
   * Identifies the caller of a request, and counts the request. Throws a Problem of 429 if the bucket of the caller, or
   * of the address of an unknown one, is empty.
   */
  async counting(identify: () => Promise<Caller>, origin: Origin): Promise<Caller> {
    const ofAddress = { kind: "address", name: siteOf(origin.address) } as const;
    try {
      const caller = await identify();
      await this.#count(this.#deps.bucketOf(caller) ?? ofAddress, origin);
      return caller;
    } catch (error) {
      if (error instanceof Problem && error.status === 401) await this.#count(ofAddress, origin);
      throw error;
    }
  }

  async #count({ kind, name }: Bucket, { setHeaders }: Origin): Promise<void> {
    const { rates, state, clusterId } = this.#deps;
    const rate = rates[kind];
    if (rate === null) return;
    const taken = await state.take(digestOf(clusterId(), kind, name), rate);
    setHeaders?.(headersOf(kind, rate, taken));
    if (taken.isTaken) return;
    const retryAfterSeconds = secondsOf(nextInMicros(rate, taken));
    const most = `${callers[kind]} may make ${rate.perSecond} calls a second`;
    const detail = `${most}; try again in ${retryAfterSeconds} s`;
    throw new Problem(429, "rate_limited", detail, { retryAfterSeconds });
  }
}

/** Returns the key of a bucket. It says nothing about the caller, and clusters may share a store. */
const digestOf = (...parts: readonly string[]): string =>
  createHash("sha256").update(parts.join(" ")).digest("base64url");

/** Returns the headers of draft-ietf-httpapi-ratelimit-headers-10: the quota and its window, and the rest of it. */
function headersOf(kind: string, rate: Rate, taken: Taken): Readonly<Record<string, string>> {
  const windowSeconds = secondsOf(rate.burst * microsOfToken(rate));
  return {
    "ratelimit-policy": `"${kind}";q=${rate.burst};w=${windowSeconds}`,
    ratelimit: `"${kind}";r=${leftIn(rate, taken)};t=${secondsOf(taken.fullInMicros)}`,
  };
}

const secondsOf = (micros: number): number => Math.ceil(micros / 1_000_000);
