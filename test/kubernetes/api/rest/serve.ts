// One HTTP request: who asks, what is asked for, and how the answer is written. Source: docs, "Authenticating",
// "Kubernetes API Concepts", "Kubernetes API health endpoints".
import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiFault } from "../fault.ts";
import { openApiDocument, openApiIndex } from "../openapi/document.ts";
import { ANONYMOUS, type Tokens, type User } from "../rbac/authenticate.ts";
import { type Authorizer, refusePath } from "../rbac/authorize.ts";
import { aggregated, coreVersions, groupList, oneGroup, resourceList } from "./discovery.ts";
import { dispatch, resourceOf, type Reply, type Services } from "./dispatch.ts";
import { DISCOVERY_TYPE, formOf } from "./media-types.ts";
import { fromProtobuf, isProtobuf } from "./protobuf.ts";
import { resourcePathOf, verbOf } from "./request.ts";

export type Context = Services & { tokens: Tokens };

export const serve = async (
  context: Context,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  try {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    await answer(context, request, response, Buffer.concat(parts));
  } catch (error) {
    const fault =
      error instanceof ApiFault
        ? error
        : new ApiFault(500, "InternalError", `Internal error occurred: ${(error as Error).stack}`);
    if (response.headersSent) response.destroy();
    else sendJson(response, fault.code, fault.status, []);
  }
};

/** A protobuf body becomes JSON, under the media type of JSON. */
const textOf = (request: IncomingMessage, body: Buffer): string => {
  if (!isProtobuf(request.headers["content-type"]) || body.length === 0) return body.toString();
  request.headers["content-type"] = "application/json";
  return fromProtobuf(body);
};

const sendJson = (
  response: ServerResponse,
  code: number,
  body: unknown,
  warnings: readonly string[],
  type = "application/json",
): void => {
  const text = JSON.stringify(body);
  if (warnings.length > 0)
    response.setHeader(
      "Warning",
      warnings.map((text) => `299 - ${JSON.stringify(text)}`),
    );
  response.writeHead(code, { "content-type": type, "cache-control": "no-cache, private" });
  response.end(`${text}\n`);
};

const userOf = ({ tokens, authorizer }: Context, { headers }: IncomingMessage): User => {
  const header = headers.authorization;
  const user = header === undefined ? ANONYMOUS : tokens.userOf(header.replace(/^Bearer /i, ""));
  if (!user) throw new ApiFault(401, "Unauthorized", "Unauthorized");
  return impersonated(headers, user, authorizer);
};

/** Source: docs, "Authenticating" (user impersonation). */
const impersonated = (
  headers: IncomingMessage["headers"],
  user: User,
  authorizer: Authorizer,
): User => {
  const name = headers["impersonate-user"];
  if (typeof name !== "string") return user;
  const attributes = { verb: "impersonate", group: "", subresource: "", namespace: null };
  if (!authorizer.allows(user, { ...attributes, resource: "users", name })) {
    const why = `User "${user.name}" cannot impersonate resource "users" in API group "" at the cluster scope`;
    throw new ApiFault(403, "Forbidden", `users "${name}" is forbidden: ${why}`);
  }
  const given = headers["impersonate-group"] ?? [];
  const account = /^system:serviceaccount:([^:]+):/.exec(name)?.[1];
  const own = account ? ["system:serviceaccounts", `system:serviceaccounts:${account}`] : [];
  return { name, groups: [...own, ...[given].flat(), "system:authenticated"] };
};

const answer = (
  context: Context,
  request: IncomingMessage,
  response: ServerResponse,
  content: Buffer,
): Promise<void> | void => {
  const url = new URL(request.url ?? "/", "https://server");
  const user = userOf(context, request);
  const path = resourcePathOf(url.pathname);
  if (!path) {
    answerPath(context, request, response, url, user);
    return undefined;
  }
  const verb = verbOf(request.method ?? "", path, url.searchParams);
  if (!verb)
    throw new ApiFault(
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    );
  resourceOf(context.store, path);
  const body = textOf(request, content);
  const ends = new AbortController();
  response.on("close", () => ends.abort());
  const { headers } = request;
  const asked = { verb, path, query: url.searchParams, headers, body, user, signal: ends.signal };
  return dispatch(context, asked, replyBy(response));
};

const replyBy = (response: ServerResponse): Reply => ({
  json: (code, body, warnings) => sendJson(response, code, body, warnings),
  stream: (type) => {
    response.writeHead(200, { "content-type": type, "cache-control": "no-cache, private" });
    response.flushHeaders();
    return { write: (text) => void response.write(text), end: () => void response.end() };
  },
});

const VERSION = {
  major: "1",
  minor: "33",
  gitVersion: "v1.33.0",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "2025-04-23T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "linux/amd64",
};

const answerPath = (
  { store, authorizer }: Context,
  request: IncomingMessage,
  response: ServerResponse,
  { pathname }: URL,
  user: User,
): void => {
  if (!authorizer.allowsPath(user, "get", pathname)) throw refusePath(user, "get", pathname);
  const { resources } = store;
  const { accept } = request.headers;
  const path = pathname.replace(/\/$/, "");
  if (["/healthz", "/livez", "/readyz"].includes(path)) {
    response.writeHead(200, { "content-type": "text/plain" });
    response.end("ok");
    return;
  }
  if (path === "/api" || path === "/apis") {
    if (formOf(accept, ["APIGroupDiscoveryList"]) === "APIGroupDiscoveryList") {
      sendJson(response, 200, aggregated(resources, path === "/api"), [], DISCOVERY_TYPE);
      return;
    }
    sendJson(
      response,
      200,
      path === "/api" ? coreVersions(request.headers.host ?? "") : groupList(resources),
      [],
    );
    return;
  }
  const found = documentOf(path, resources);
  if (found === null)
    throw new ApiFault(404, "NotFound", "the server could not find the requested resource");
  sendJson(response, 200, found, []);
};

const documentOf = (path: string, resources: Services["store"]["resources"]): unknown => {
  if (path === "/version") return VERSION;
  if (path === "/openapi/v3") return openApiIndex(resources);
  if (path.startsWith("/openapi/v3/"))
    return openApiDocument(resources, path.slice("/openapi/v3/".length));
  const [, root, first = "", second] = path.split("/");
  if (root === "api" && second === undefined) return resourceList(resources, "", first);
  if (root !== "apis") return null;
  return second === undefined ? oneGroup(resources, first) : resourceList(resources, first, second);
};
