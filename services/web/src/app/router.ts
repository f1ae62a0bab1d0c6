import { createRouter } from "@tanstack/react-router";
import { accountRoute } from "../pages/account/route.ts";
import { compareRoute } from "../pages/compare/route.ts";
import { deviceRoute } from "../pages/device/route.ts";
import { experimentRoute } from "../pages/experiment/route.ts";
import { experimentsRoute } from "../pages/experiments/route.ts";
import { homeRoute } from "../pages/home/route.ts";
import { modelRoute } from "../pages/model/route.ts";
import { modelsRoute } from "../pages/models/route.ts";
import { referenceRoute } from "../pages/reference/route.ts";
import { rootRoute } from "../pages/root-route.ts";
import { signInRoute } from "../pages/sign-in/route.ts";
import { taskRoute } from "../pages/task/route.ts";
import { tasksRoute } from "../pages/tasks/route.ts";
import { tokensRoute } from "../pages/tokens/route.ts";
import { trialRoute } from "../pages/trial/route.ts";
import { usersRoute } from "../pages/users/route.ts";
import { NotFound, PageError, PagePending } from "./page-messages.tsx";
import { Shell } from "./shell.tsx";

/** All pages. Each is a folder of pages/ with its route, which loads the page's code when it is opened. */
const pages = [
  homeRoute,
  experimentsRoute,
  experimentRoute,
  trialRoute,
  compareRoute,
  tasksRoute,
  taskRoute,
  modelsRoute,
  modelRoute,
  tokensRoute,
  usersRoute,
  accountRoute,
  deviceRoute,
  referenceRoute,
  signInRoute,
] as const;

export const router = createRouter({
  routeTree: rootRoute.update({ component: Shell, notFoundComponent: NotFound }).addChildren(pages),
  defaultPreload: "intent",
  defaultErrorComponent: PageError,
  defaultPendingComponent: PagePending,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
