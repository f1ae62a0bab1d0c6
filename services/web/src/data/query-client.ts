import { QueryClient } from "@tanstack/react-query";
import { ApiError, isAway } from "@trainyard/client";

/**
 * Caches all answers of the server. Live frames keep them fresh (live/patch.ts), so an answer's age causes no read;
 * calls to an unavailable platform are retried until it answers.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      retry: (_, error) => isAway(error),
      retryDelay: (attempt, error) =>
        Math.max(
          error instanceof ApiError ? error.retryAfterMs : 0,
          Math.min(500 * 2 ** attempt, 5_000),
        ),
    },
  },
});
