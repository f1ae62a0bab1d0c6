/**
 * The public API's routes, read from the google.api.http rules that the generated descriptors carry. The gateway serves
 * from this table and the clients call by it, so neither repeats a path.
 */
import { type DescMessage, type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import { http } from "./gen/google/api/annotations_pb.ts";
import type { HttpRule } from "./gen/google/api/http_pb.ts";
import { AnalysisService } from "./gen/trainyard/api/v1/analysis_pb.ts";
import { CheckpointService } from "./gen/trainyard/api/v1/checkpoints_pb.ts";
import { ClusterService } from "./gen/trainyard/api/v1/cluster_pb.ts";
import { ExperimentService } from "./gen/trainyard/api/v1/experiments_pb.ts";
import { ProfileService } from "./gen/trainyard/api/v1/profile_pb.ts";
import { ReportService } from "./gen/trainyard/api/v1/reports_pb.ts";
import { SearchService } from "./gen/trainyard/api/v1/search_pb.ts";
import { StorageService } from "./gen/trainyard/api/v1/storages_pb.ts";
import { RunService } from "./gen/trainyard/api/v1/runs_pb.ts";
import { ViewService } from "./gen/trainyard/api/v1/views_pb.ts";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export type Route = {
  readonly service: string;
  readonly name: string;
  readonly method: HttpMethod;
  /** /api/v1/trials/{trial}/logs:follow */
  readonly path: string;
  /** The fields of the request that are in the path. */
  readonly pathFields: readonly string[];
  /** The rest of the request is the JSON body; otherwise it is the query. */
  readonly hasBody: boolean;
  /** The answer is a stream of messages: server-sent events. */
  readonly streams: boolean;
  /** The answer is bytes of its own content type. */
  readonly raw: boolean;
  readonly request: DescMessage;
  readonly reply: DescMessage;
};

/** What the gateway serves. */
export const gatewayServices: readonly DescService[] = [
  ExperimentService,
  CheckpointService,
  StorageService,
  RunService,
  ProfileService,
  SearchService,
  ClusterService,
  AnalysisService,
  ViewService,
];

/** What the metrics service serves at its own address. */
export const reportService: DescService = ReportService;

/** All routes of some services; a method with additional bindings has several. */
export function routesOf(services: readonly DescService[]): readonly Route[] {
  return services.flatMap((service) =>
    service.methods.flatMap((method) => {
      const rule = getOption(method, http);
      return [rule, ...rule.additionalBindings].map((binding) => routeOf(service, method, binding));
    }),
  );
}

function routeOf(service: DescService, method: DescMethod, rule: HttpRule): Route {
  const { pattern } = rule;
  if (pattern.case === undefined || pattern.case === "custom") {
    throw new TypeError(`${service.name}.${method.name} has no HTTP rule`);
  }
  return {
    service: service.name,
    name: method.name,
    method: pattern.case.toUpperCase() as HttpMethod,
    path: pattern.value,
    pathFields: [...pattern.value.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ""),
    hasBody: rule.body === "*",
    streams: method.methodKind === "server_streaming",
    raw: method.output.typeName === "google.api.HttpBody",
    request: method.input,
    reply: method.output,
  };
}

/** The path with its fields filled in, percent-encoded. */
export function pathOf(route: Route, fields: Readonly<Record<string, unknown>>): string {
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(fields[name] ?? "")),
  );
}
