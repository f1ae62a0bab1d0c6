import { createRouter } from "@tanstack/react-router";
import { experimentsRoute } from "../pages/experiments/route.ts";
import { homeRoute } from "../pages/home/route.ts";
import { shellRoute } from "./shell-route.tsx";

/** All pages: each is a folder of pages/ with its route, which loads the page itself when it is opened. */
const pages = [homeRoute, experimentsRoute] as const;

export const router = createRouter({
  routeTree: shellRoute.addChildren(pages),
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
