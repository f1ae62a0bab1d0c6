import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { preloadList } from "../../app/calls.ts";
import { queryClient } from "../../app/query-client.ts";
import { shellRoute } from "../../app/shell-route.tsx";
import { shownList } from "./list.ts";
import { readSearch } from "./search.ts";

export const experimentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/experiments",
  validateSearch: readSearch,
  // The rows come while the page's code does.
  loader: ({ location }) => {
    const search = readSearch(location.search);
    // Columns of hyperparameters and metrics are known by the page only.
    if (search.columns !== undefined) return;
    const { request, live } = shownList(search, []);
    preloadList(queryClient, "listExperiments", request, live);
  },
  component: lazyRouteComponent(() => import("./page.tsx"), "ExperimentsPage"),
});
