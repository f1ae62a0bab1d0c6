import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root-route.ts";

type Search = {
  /** The tokens of all users, for admins. */
  readonly all?: true;
};

export const tokensRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/tokens",
  validateSearch: ({ all }: Record<string, unknown>): Search => (all === true ? { all } : {}),
  component: lazyRouteComponent(() => import("./page.tsx"), "TokensPage"),
});
