import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root-route.ts";

export type ModelsSearch = {
  /** The filter, as in `yard model list --filter`. */
  readonly filter?: string;
  /** A field, optionally followed by `desc`. */
  readonly sort?: string;
  readonly archived?: boolean;
};

export const modelsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/models",
  validateSearch: (search: Record<string, unknown>): ModelsSearch => ({
    ...(typeof search["filter"] === "string" ? { filter: search["filter"] } : {}),
    ...(typeof search["sort"] === "string" ? { sort: search["sort"] } : {}),
    ...(search["archived"] === true ? { archived: true } : {}),
  }),
  component: lazyRouteComponent(() => import("./page.tsx"), "ModelsPage"),
});
