import { ApiError } from "@trainyard/client";
import { expect, test } from "vitest";
import { signInFailure } from "./failure.ts";

const refused = (status: number, code: string, retryAfterMs = 0): ApiError =>
  new ApiError(
    { type: "", title: "", status, code, detail: "the user is disabled", instance: "", errors: [] },
    retryAfterMs,
  );

test("a failed sign-in is one sentence, and one that must wait has the seconds", () => {
  expect(signInFailure(refused(401, "invalid_password"), "password")).toBe(
    "The name or the password is wrong.",
  );
  expect(signInFailure(refused(429, "too_many_attempts", 41_200), "password")).toBe(
    "There were too many attempts: try again in 42 seconds.",
  );
  expect(signInFailure(refused(429, "busy", 700), "token")).toContain("in 1 second.");
  expect(signInFailure(refused(401, "no_token"), "token")).toContain("Invalid token");
  expect(signInFailure(refused(403, "disabled"), "password")).toBe("The user is disabled.");
});
