import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/shell-route.tsx";
import { readSearch } from "./search.ts";

export const experimentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/experiments",
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import("./page.tsx"), "ExperimentsPage"),
});
