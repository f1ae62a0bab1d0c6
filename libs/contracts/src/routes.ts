/**
 * The public API's routes, read from the google.api.http rules that the generated descriptors carry. The gateway serves
 * from this table and the clients call by it, so neither repeats a path.
 */
import { type DescMessage, type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import {
  type CallName,
  gatewayServices,
  type RawName,
  type StreamName,
  type UnaryName,
} from "./calls.ts";
import { http } from "./gen/google/api/annotations_pb.ts";
import type { HttpRule } from "./gen/google/api/http_pb.ts";
import { HttpBodySchema } from "./gen/google/api/httpbody_pb.ts";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type Kinds =
  /** One message answers. */
  | { readonly kind: "unary"; readonly call: UnaryName }
  /** The answer is a stream of messages: server-sent events. */
  | { readonly kind: "stream"; readonly call: StreamName }
  /** The answer is bytes of its own content type. */
  | { readonly kind: "raw"; readonly call: RawName };

export type Route = Kinds & {
  readonly service: string;
  readonly name: string;
  readonly method: HttpMethod;
  /** /api/v1/trials/{trial}/logs:follow */
  readonly path: string;
  /** The fields of the request that are in the path. */
  readonly pathFields: readonly string[];
  /** The rest of the request is the JSON body; otherwise it is the query. */
  readonly hasBody: boolean;
  readonly request: DescMessage;
  readonly reply: DescMessage;
};

/** All routes of the gateway; a method with additional bindings has several. */
export function gatewayRoutes(): readonly Route[] {
  return gatewayServices.flatMap((service: DescService) =>
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
    ...kindOf(method),
    service: service.name,
    name: method.name,
    method: pattern.case.toUpperCase() as HttpMethod,
    path: pattern.value,
    pathFields: [...pattern.value.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ""),
    hasBody: rule.body === "*",
    request: method.input,
    reply: method.output,
  };
}

/** The types of the calls are derived from the descriptors that are read here, so the names agree with the kinds. */
function kindOf(method: DescMethod): Kinds {
  const call = method.localName as CallName;
  if (method.methodKind === "server_streaming") return { kind: "stream", call: call as StreamName };
  if (method.output.typeName === HttpBodySchema.typeName)
    return { kind: "raw", call: call as RawName };
  return { kind: "unary", call: call as UnaryName };
}

/** The path with its fields filled in, percent-encoded. */
export function pathOf(route: Route, fields: Readonly<Record<string, unknown>>): string {
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(fields[name] ?? "")),
  );
}
