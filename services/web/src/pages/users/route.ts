import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root-route.ts";

export type UsersTab = "users" | "groups" | "roles";

type Search = {
  /** The open tab; absent for the users. */
  readonly tab?: Exclude<UsersTab, "users">;
  /** The begin of the names of the shown users. */
  readonly prefix?: string;
};

export const usersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/users",
  validateSearch: ({ tab, prefix }: Record<string, unknown>): Search => ({
    ...(tab === "groups" || tab === "roles" ? { tab } : {}),
    ...(typeof prefix === "string" && prefix !== "" ? { prefix } : {}),
  }),
  component: lazyRouteComponent(() => import("./page.tsx"), "UsersPage"),
});
