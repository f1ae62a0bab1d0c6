import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { preloadList } from "../../data/calls.ts";
import { queryClient } from "../../data/query-client.ts";
import { rootRoute } from "../root-route.ts";
import { shownList } from "./list.ts";
import { readSearch } from "./search.ts";

export const experimentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/experiments",
  validateSearch: readSearch,
  // The rows are loaded at the same time as the page's code.
  loader: ({ location }) => {
    const search = readSearch(location.search);
    // Only the page knows the columns of hyperparameters and metrics.
    if (search.columns !== undefined) return;
    const { request, live } = shownList(search, []);
    preloadList(queryClient, "listExperiments", request, live);
  },
  component: lazyRouteComponent(() => import("./page.tsx"), "ExperimentsPage"),
});
