import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/shell-route.tsx";
import { trialSearchOf } from "./search.ts";

export const trialRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/trials/$trial",
  validateSearch: trialSearchOf,
  // Another object is another page: nothing that was typed or opened for this one is kept for that.
  remountDeps: ({ params }) => params,
  component: lazyRouteComponent(() => import("./page.tsx"), "TrialPage"),
});
