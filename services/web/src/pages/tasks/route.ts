import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root-route.ts";

export type TasksSearch = {
  /** The filter, as in `yard task list --filter`. */
  readonly filter?: string;
  /** A field, optionally followed by `desc`. */
  readonly sort?: string;
};

export const tasksRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/tasks",
  validateSearch: (search: Record<string, unknown>): TasksSearch => ({
    ...(typeof search["filter"] === "string" ? { filter: search["filter"] } : {}),
    ...(typeof search["sort"] === "string" ? { sort: search["sort"] } : {}),
  }),
  component: lazyRouteComponent(() => import("./page.tsx"), "TasksPage"),
});
