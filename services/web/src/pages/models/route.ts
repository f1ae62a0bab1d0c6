import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/shell-route.tsx";

export type ModelsSearch = {
  /** The filter, as `yard model list --filter` has it. */
  readonly filter?: string;
  /** A field, then desc or nothing. */
  readonly sort?: string;
  readonly archived?: boolean;
};

export const modelsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/models",
  validateSearch: (search: Record<string, unknown>): ModelsSearch => ({
    ...(typeof search["filter"] === "string" ? { filter: search["filter"] } : {}),
    ...(typeof search["sort"] === "string" ? { sort: search["sort"] } : {}),
    ...(search["archived"] === true ? { archived: true } : {}),
  }),
  component: lazyRouteComponent(() => import("./page.tsx"), "ModelsPage"),
});
