import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/shell-route.tsx";

export type ModelSearch = {
  /** versions, aliases or about. */
  readonly tab?: string;
  /** The number of the version that the inspector shows. */
  readonly version?: number;
  /** Conditions, as `yard model versions --where` has them, with "and" between them. */
  readonly where?: string;
  /** Versions in the order of this metric, the best first. */
  readonly best?: string;
  /** The numbers of the versions that are compared. */
  readonly compare?: readonly number[];
};

export const modelRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/models/$model",
  validateSearch: (search: Record<string, unknown>): ModelSearch => ({
    ...(typeof search["tab"] === "string" ? { tab: search["tab"] } : {}),
    ...(Number.isInteger(search["version"]) ? { version: Number(search["version"]) } : {}),
    ...(typeof search["where"] === "string" ? { where: search["where"] } : {}),
    ...(typeof search["best"] === "string" ? { best: search["best"] } : {}),
    ...(isNumbers(search["compare"]) ? { compare: search["compare"] } : {}),
  }),
  // Another object is another page: nothing that was typed or opened for this one is kept for that.
  remountDeps: ({ params }) => params,
  component: lazyRouteComponent(() => import("./page.tsx"), "ModelPage"),
});

const isNumbers = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((one) => Number.isInteger(one));
