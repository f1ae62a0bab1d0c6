import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/shell-route.tsx";
import { readSearch } from "./url.ts";

export const experimentRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/experiments/$experiment",
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import("./page.tsx"), "ExperimentPage"),
});
