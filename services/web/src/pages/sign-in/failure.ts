import { ApiError } from "@trainyard/client";
import { shownError } from "../../components/problem.ts";

/** Returns one sentence about a sign-in that failed. */
export function signInFailure(failure: unknown, by: "token" | "password"): string {
  if (failure instanceof ApiError) {
    const { status, code } = failure.problem;
    if (status === 429) return tooMany(failure.retryAfterMs);
    // The server does not recognise a text that cannot be a token, for example with a space.
    if (by === "token" && (code === "no_token" || code === "invalid_token")) {
      return "Invalid token: this cluster did not issue it. Paste the whole of it.";
    }
    if (by === "password" && status === 401) return "The name or the password is wrong.";
    return shownError(failure).what;
  }
  const { what, todo } = shownError(failure);
  return `${what} ${todo}`.trim();
}

function tooMany(waitMs: number): string {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return `There were too many attempts: try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`;
}
