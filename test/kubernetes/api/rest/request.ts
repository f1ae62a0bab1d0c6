// Requests, by the verb and the resource that they name. Source: docs, "Kubernetes API Concepts" (resource URIs),
// "Authorization" (request verbs).
import type { IncomingMessage } from "node:http";
import type { User } from "../rbac/authenticate.ts";

export type Verb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "delete"
  | "deletecollection";

export type ResourcePath = {
  group: string;
  version: string;
  plural: string;
  namespace: string | null;
  name: string | null;
  subresource: string;
};

export type ApiRequest = {
  verb: Verb;
  path: ResourcePath;
  query: URLSearchParams;
  headers: IncomingMessage["headers"];
  body: string;
  user: User;
  signal: AbortSignal;
};

/** Null for a path that names no resource, as /version. */
export const resourcePathOf = (pathname: string): ResourcePath | null => {
  const parts = pathname
    .split("/")
    .filter((part) => part !== "")
    .map(decodeURIComponent);
  const root = parts.shift();
  if (root !== "api" && root !== "apis") return null;
  const group = root === "api" ? "" : (parts.shift() ?? "");
  const version = parts.shift();
  if (version === undefined || parts.length === 0) return null;
  let namespace: string | null = null;
  // "/namespaces/x" is the object, "/namespaces/x/pods" is a list within it, and two of its subresources are its own.
  const own = parts.length < 3 || ["status", "finalize"].includes(parts[2] ?? "");
  if (parts[0] === "namespaces" && !own) {
    namespace = parts[1] ?? "";
    parts.splice(0, 2);
  }
  const [plural = "", name = null, ...rest] = parts;
  return { group, version, plural, namespace, name, subresource: rest.join("/") };
};

export const verbOf = (method: string, path: ResourcePath, query: URLSearchParams): Verb | null => {
  const isWatch = ["true", "1"].includes(query.get("watch") ?? "");
  switch (method) {
    case "GET":
    case "HEAD":
      if (path.name !== null) return "get";
      return isWatch ? "watch" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return path.name === null ? "deletecollection" : "delete";
    default:
      return null;
  }
};

export const isDryRun = (query: URLSearchParams): boolean => query.getAll("dryRun").includes("All");
