import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./theme/tokens.css";
import "./theme/base.css";
import { startMissingFiles } from "./app/missing-file.ts";
import { startNonce } from "./app/nonce.ts";
import { router } from "./app/router.ts";
import { followRights } from "./data/follow-rights.ts";
import { live } from "./data/live/connection.ts";
import { patcher } from "./data/live/patch.ts";
import { queryClient } from "./data/query-client.ts";
import { onSignedOut, takeCode } from "./data/session.ts";
import { startTheme } from "./theme/theme.ts";

/** Signs in by a one-time link, which may be opened in a tab that is already open. */
async function enter(): Promise<void> {
  const failure = await takeCode(queryClient);
  if (failure === null) return;
  await router.navigate({ to: "/sign-in", search: { code: "refused" }, replace: true });
}

function toSignIn(): void {
  const { pathname, href } = router.state.location;
  if (pathname === "/sign-in") return;
  void router.navigate({ to: "/sign-in", search: { back: href } });
}

/** A function, since an await at the top level would deadlock: pages that are loaded later import this file's chunk. */
async function start(): Promise<void> {
  const root = document.getElementById("root");
  if (root === null) throw new Error("index.html has no element #root");
  await enter();
  globalThis.addEventListener("hashchange", () => void enter());
  live.start(patcher(queryClient));
  followRights(queryClient);
  onSignedOut(queryClient, toSignIn);
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}

startTheme();
startNonce();
startMissingFiles();
void start();
