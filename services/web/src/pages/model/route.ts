import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root-route.ts";

export type ModelSearch = {
  /** The open tab: `versions`, `aliases` or `about`. */
  readonly tab?: string;
  /** The number of the version that the inspector shows. */
  readonly version?: number;
  /** Conditions as in `yard model versions --where`, joined by "and". */
  readonly where?: string;
  /** The metric by which versions are sorted, the best first. */
  readonly best?: string;
  /** The numbers of the compared versions. */
  readonly compare?: readonly number[];
};

export const modelRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/models/$model",
  validateSearch: (search: Record<string, unknown>): ModelSearch => ({
    ...(typeof search["tab"] === "string" ? { tab: search["tab"] } : {}),
    ...(Number.isInteger(search["version"]) ? { version: Number(search["version"]) } : {}),
    ...(typeof search["where"] === "string" ? { where: search["where"] } : {}),
    ...(typeof search["best"] === "string" ? { best: search["best"] } : {}),
    ...(isNumbers(search["compare"]) ? { compare: search["compare"] } : {}),
  }),
  // Each object has a new page: no typed text or opened panel is kept from the previous one.
  remountDeps: ({ params }) => params,
  component: lazyRouteComponent(() => import("./page.tsx"), "ModelPage"),
});

const isNumbers = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((one) => Number.isInteger(one));
