import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/shell-route.tsx";
import { trialSearchOf } from "./search.ts";

export const trialRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/trials/$trial",
  validateSearch: trialSearchOf,
  component: lazyRouteComponent(() => import("./page.tsx"), "TrialPage"),
});
