/**
 * The public API's routes, read from the google.api.http rules in the generated descriptors. The gateway and all
 * clients use this table, so each path is written once.
 */
import { type DescMessage, type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import { assert } from "@trainyard/kernel";
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
import {
  BodyLimit,
  Cost,
  call as callOptions,
  Permission,
} from "./gen/trainyard/options/v1/call_pb.ts";
import type { CallOptions } from "./gen/trainyard/options/v1/call_pb.ts";
import type { Plain } from "./plain.ts";

export { BodyLimit, Cost, gatewayServices, Permission };

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type Kinds =
  /** The answer is one message. */
  | { readonly kind: "unary"; readonly call: UnaryName }
  /** The answer is a stream of messages: server-sent events. */
  | { readonly kind: "stream"; readonly call: StreamName }
  /** The answer is bytes of another content type. */
  | { readonly kind: "raw"; readonly call: RawName };

export type Route = Kinds & {
  readonly service: string;
  readonly name: string;
  readonly method: HttpMethod;
  /** For example /api/v1/trials/{trial}/logs:follow. */
  readonly path: string;
  /** The request's fields that are in the path. */
  readonly pathFields: readonly string[];
  /** True if the request's other fields are the JSON body, false if they are the query. */
  readonly hasBody: boolean;
  readonly request: DescMessage;
  readonly reply: DescMessage;
  readonly facts: CallFacts;
};

/** The options of a call, which proto/trainyard/options/v1/call.proto describes. */
export type CallFacts = Plain<CallOptions>;

/**
 * Returns all routes of the gateway; a method with additional bindings has several. Throws if a call does not say what
 * it costs, or which permission its caller needs.
 */
export function gatewayRoutes(): readonly Route[] {
  const routes = routesOf(gatewayServices);
  for (const { name, facts } of routes) {
    assert(facts.cost !== Cost.UNSPECIFIED, `${name} says what it costs`);
    const isOfUsers = !facts.open && !facts.signsIn;
    const saysWho = facts.permission !== Permission.UNSPECIFIED;
    assert(isOfUsers === saysWho, `${name} says which permission it needs`);
    assert(!facts.narrows || facts.objects.length === 0, `${name} has objects or narrows`);
  }
  return routes;
}

/** Returns the routes of the methods of some services. */
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
    ...kindOf(method),
    service: service.name,
    name: method.name,
    method: pattern.case.toUpperCase() as HttpMethod,
    path: pattern.value,
    pathFields: [...pattern.value.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ""),
    hasBody: rule.body === "*",
    request: method.input,
    reply: method.output,
    facts: factsOf(method),
  };
}

function factsOf(method: DescMethod): CallFacts {
  const facts = getOption(method, callOptions);
  assert(
    !(facts.secret && facts.storesAnswer),
    `the answer of ${method.name} is not stored, because it has a secret`,
  );
  return facts;
}

/** The cast is safe: call types and kinds are derived from the same descriptors. */
function kindOf(method: DescMethod): Kinds {
  const call = method.localName as CallName;
  if (method.output.typeName === HttpBodySchema.typeName)
    return { kind: "raw", call: call as RawName };
  if (method.methodKind === "server_streaming") return { kind: "stream", call: call as StreamName };
  return { kind: "unary", call: call as UnaryName };
}

/** Returns the path with its fields filled in, percent-encoded. */
export function pathOf(route: Route, fields: Readonly<Record<string, unknown>>): string {
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(fields[name] ?? "")),
  );
}
