import { Fault } from "@trainyard/kernel";
import { Redis } from "ioredis";
import { rateLimits } from "./limits.ts";
import type { SharedState } from "./shared-state.ts";
import { microsOfToken, type Rate, type Taken } from "./token-bucket.ts";

/** `takeToken`, by the clock of the server, so that clocks of replicas may differ. A full bucket has no key. */
const take = `
local token, empty = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = tonumber(redis.call('GET', KEYS[1]) or 0) or 0
local missing = math.max(0, full - now)
if missing > 2 * empty then missing = 0 end
missing = math.min(missing, empty)
if missing + token > empty then return {0, missing} end
missing = missing + token
redis.call('SET', KEYS[1], string.format('%.0f', now + missing), 'PX', math.ceil(missing / 1000))
return {1, missing}
`;

type WithTake = Redis & {
  trainyardTake(key: string, token: number, empty: number): Promise<[number, number]>;
};

/** The state that all replicas with one Redis share. A call fails at once while there is no connection. */
export class RedisState implements SharedState, Disposable {
  readonly #redis: WithTake;
  /** The reason why there is no connection. */
  #why: string | null = null;

  /** Connects in the background. Calls back at each failure to connect. */
  constructor(url: string, failed: (error: Fault) => void) {
    const redis = new Redis(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      connectTimeout: rateLimits.redisSilentMs,
      socketTimeout: rateLimits.redisSilentMs,
      retryStrategy: () => rateLimits.redisRetryMs,
      scripts: { trainyardTake: { lua: take, numberOfKeys: 1 } },
    });
    redis.on("error", ({ message }: Error) => {
      this.#why = message;
      failed(away(message));
    });
    redis.on("ready", () => (this.#why = null));
    this.#redis = redis as WithTake;
  }

  async take(key: string, rate: Rate): Promise<Taken> {
    const token = microsOfToken(rate);
    const name = `trainyard:rate:${key}`;
    const [isTaken, missing] = await this.#answered(
      this.#redis.trainyardTake(name, token, rate.burst * token),
    );
    return { isTaken: isTaken === 1, fullInMicros: missing };
  }

  get(key: string): Promise<Uint8Array | null> {
    return this.#answered(this.#redis.getBuffer(nameOf(key)));
  }

  async put(key: string, bytes: Uint8Array, keptMs: number): Promise<void> {
    if (bytes.length > rateLimits.keptOneBytesMax) return;
    await this.#answered(this.#redis.set(nameOf(key), Buffer.from(bytes), "PX", keptMs));
  }

  async #answered<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      throw away(this.#why ?? (error as Error).message);
    }
  }

  [Symbol.dispose](): void {
    this.#redis.disconnect();
  }
}

const nameOf = (key: string): string => `trainyard:answer:${key}`;

const away = (why: string): Fault => new Fault("redis_away", why, { retry: "later" });
