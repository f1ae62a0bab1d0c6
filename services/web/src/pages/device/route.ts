import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root-route.ts";

type Search = {
  /** The code that the program shows. */
  readonly code?: string;
};

export const deviceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/device",
  validateSearch: ({ code }: Record<string, unknown>): Search =>
    typeof code === "string" && code !== "" ? { code } : {},
  component: lazyRouteComponent(() => import("./page.tsx"), "DevicePage"),
});
