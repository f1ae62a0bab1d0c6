import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/shell-route.tsx";

export const experimentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/experiments",
  component: lazyRouteComponent(() => import("./page.tsx"), "ExperimentsPage"),
});
