import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root-route.ts";
import { taskSearchOf } from "./search.ts";

export const taskRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/tasks/$task",
  validateSearch: taskSearchOf,
  // Each object has a new page: no typed text or opened panel is kept from the previous one.
  remountDeps: ({ params }) => params,
  component: lazyRouteComponent(() => import("./page.tsx"), "TaskPage"),
});
