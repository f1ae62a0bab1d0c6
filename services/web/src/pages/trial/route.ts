import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root-route.ts";
import { trialSearchOf } from "./search.ts";

export const trialRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/trials/$trial",
  validateSearch: trialSearchOf,
  // Each object has a new page: no typed text or opened panel is kept from the previous one.
  remountDeps: ({ params }) => params,
  component: lazyRouteComponent(() => import("./page.tsx"), "TrialPage"),
});
