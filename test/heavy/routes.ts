/** The routes of the platform, of the gateway and of the metrics service, as the descriptors have them. */
import { ReportService } from "@trainyard/contracts/api";
import { BodyLimit, Cost, gatewayRoutes, type Route, routesOf } from "@trainyard/contracts/routes";

export type HeavyRoute = { readonly route: Route; readonly of: "gateway" | "metrics" };

/** The largest body of a report. */
const reportBytesMax = 4 * 1024 * 1024;

/** The calls of reports that have a path: the others are only over gRPC. */
const overHttp = { ...ReportService, methods: [ReportService.method.writeReports] };

export const heavyRoutes: readonly HeavyRoute[] = [
  ...gatewayRoutes().map((route) => ({ route, of: "gateway" }) as const),
  ...routesOf([overHttp]).map((route) => ({ route, of: "metrics" }) as const),
];

/** One route of each class of cost and service: the one whose request has the most fields. */
export function oneOfEachCost(): readonly HeavyRoute[] {
  const classes = Map.groupBy(heavyRoutes, ({ route, of }) => `${of} ${costOf(route)}`);
  return [...classes.values()].flatMap(
    (all) => all.toSorted((a, b) => fieldsOf(b) - fieldsOf(a))[0] ?? [],
  );
}

/** The name of a route's class of cost. */
export const costOf = ({ facts }: Route): string =>
  Object.entries(Cost).find(([, cost]) => cost === facts.cost)?.[0] ?? String(facts.cost);

const fieldsOf = ({ route }: HeavyRoute): number => route.request.fields.length;

/** The largest body, as proto/trainyard/options/v1/call.proto has it for the gateway. */
export function bodyBytesMaxOf({ of, route: { facts } }: HeavyRoute): number {
  if (of === "metrics") return reportBytesMax;
  if (facts.bodyLimit === BodyLimit.SMALL) return 4 * 1024;
  return (facts.bodyLimit === BodyLimit.LARGE ? 132 : 8) * 1024 * 1024;
}

export const nameOf = ({ route }: HeavyRoute): string => `${route.method} ${route.path}`;
