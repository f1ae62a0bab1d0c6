import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/shell-route.tsx";
import { trialSearchOf } from "./search.ts";

export const trialRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/trials/$trial",
  validateSearch: trialSearchOf,
  // Each object has a new page: no typed text or opened panel is kept from the previous one.
  remountDeps: ({ params }) => params,
  component: lazyRouteComponent(() => import("./page.tsx"), "TrialPage"),
});
