import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root-route.ts";
import { referenceSearchOf } from "./search.ts";

// The gateway serves the API itself below /api.
export const referenceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/reference",
  validateSearch: referenceSearchOf,
  component: lazyRouteComponent(() => import("./page.tsx"), "ReferencePage"),
});
