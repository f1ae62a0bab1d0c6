import { ApiError, isAway } from "@trainyard/client";
import { QueryClient } from "@tanstack/react-query";

/**
 * Everything that the server has said. Frames of the live connection keep it fresh (live/patch.ts), so nothing is asked
 * again for its age; a platform that is away is asked again until it answers.
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
