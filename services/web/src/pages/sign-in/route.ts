import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root-route.ts";

type Search = {
  /** The address to open after the sign-in. */
  readonly back?: string;
  /** The one-time link was refused. */
  readonly code?: "refused";
};

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  validateSearch: ({ back, code }: Record<string, unknown>): Search => ({
    ...(typeof back === "string" ? { back } : {}),
    ...(code === "refused" ? { code } : {}),
  }),
  component: lazyRouteComponent(() => import("./page.tsx"), "SignInPage"),
});
