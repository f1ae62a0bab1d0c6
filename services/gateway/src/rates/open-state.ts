import type { Clock } from "@trainyard/kernel";
import type { Logger } from "@trainyard/runtime";
import { FallbackState } from "./fallback-state.ts";
import { MemoryState } from "./memory-state.ts";
import { RedisLines } from "./redis-lines.ts";
import type { SharedState } from "./shared-state.ts";

type StateParts = {
  readonly stack: AsyncDisposableStack;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Opens the state that replicas share by a Redis, or this replica's own one. The client is loaded only with a URL. */
export async function openState(
  url: string | null,
  { stack, clock, logger }: StateParts,
): Promise<SharedState> {
  const own = new MemoryState(clock);
  if (url === null) return own;
  const { RedisState } = await import("./redis-state.ts");
  const lines = stack.use(new RedisLines(clock, logger));
  const shared = stack.use(new RedisState(url, (error) => state.fail(error)));
  const state: FallbackState = new FallbackState({
    ...{ shared, own, clock },
    away: (error) => lines.away(error),
    back: () => lines.back(),
  });
  return state;
}
