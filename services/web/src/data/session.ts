/** The session of this browser: it begins with a sign-in, and its end leads to the sign-in page and back. */

import type { QueryClient } from "@tanstack/react-query";
import { ApiError } from "@trainyard/client";
import { client } from "./client.ts";
import { live } from "./live/connection.ts";
import type { LiveStatus } from "./live/protocol.ts";
import { sentPassword } from "./password.ts";

type Given = { token: string } | { code: string } | { name: string; password: string };

/** Opens a session. The password is the typed one; after too many wrong ones the page says how long to wait. */
export async function signIn(given: Given): Promise<void> {
  const sent =
    "password" in given ? { ...given, password: await sentPassword(given.password) } : given;
  await client.call("createSession", sent, { once: "password" in given });
  live.reopen();
}

export async function signOut(queries: QueryClient): Promise<void> {
  await client.call("deleteCurrentSession", {});
  live.reopen();
  queries.clear();
}

const codeInFragment = /^#code=([^&]+)$/;

/**
 * Signs in with the code of a one-time link, `#code=…`, and removes it from the address first. Returns the failure, for
 * the sign-in page; null without a code and on success. The data of an earlier session is dropped.
 */
export async function takeCode(queries: QueryClient): Promise<Error | null> {
  const code = codeInFragment.exec(location.hash)?.[1];
  if (code === undefined) return null;
  history.replaceState(history.state, "", location.pathname + location.search);
  try {
    await signIn({ code: decodeURIComponent(code) });
    // Open pages read their data again.
    void queries.resetQueries();
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

export const isSignedOut = (error: unknown): boolean =>
  error instanceof ApiError && error.problem.status === 401;

/** Calls back whenever an answer, or the live stream, reports that the session has ended. */
export function onSignedOut(queries: QueryClient, signedOut: () => void): void {
  queries.getQueryCache().subscribe((event) => {
    if (event.type === "updated" && event.action.type === "error") {
      if (isSignedOut(event.action.error)) signedOut();
    }
  });
  queries.getMutationCache().subscribe((event) => {
    if (event.type === "updated" && event.action.type === "error") {
      if (isSignedOut(event.action.error)) signedOut();
    }
  });
  live.onStatus(() => {
    const { state }: LiveStatus = live.status();
    if (state === "signed-out") signedOut();
  });
}
