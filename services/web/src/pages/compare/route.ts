import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { preloadCall } from "../../data/calls.ts";
import { queryClient } from "../../data/query-client.ts";
import { rootRoute } from "../root-route.ts";
import { comparisonRead } from "./read.ts";
import { readSearch } from "./url.ts";

export const compareRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/compare",
  validateSearch: readSearch,
  // The trials are read at the same time as the page's code.
  loader: ({ location }) => {
    const { sources, request, live } = comparisonRead(readSearch(location.search).of);
    if (sources.length > 0) preloadCall(queryClient, "compareTrials", request, live);
  },
  component: lazyRouteComponent(() => import("./page.tsx"), "ComparePage"),
});
