import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root-route.ts";
import { readSearch } from "./url.ts";

export const experimentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/experiments/$experiment",
  validateSearch: readSearch,
  // Each object has a new page: no typed text or opened panel is kept from the previous one.
  remountDeps: ({ params }) => params,
  component: lazyRouteComponent(() => import("./page.tsx"), "ExperimentPage"),
});
