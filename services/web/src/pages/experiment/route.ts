import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/shell-route.tsx";
import { readSearch } from "./url.ts";

export const experimentRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/experiments/$experiment",
  validateSearch: readSearch,
  // Another object is another page: nothing that was typed or opened for this one is kept for that.
  remountDeps: ({ params }) => params,
  component: lazyRouteComponent(() => import("./page.tsx"), "ExperimentPage"),
});
