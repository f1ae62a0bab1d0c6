/** Maps a request's address to the operation and its object. */
import type { IncomingMessage } from "node:http";
import type { SignedUrl } from "./authorise.ts";
import { GcsError } from "./errors.ts";

export type GcsRoute = SignedUrl & {
  readonly operation:
    | "GetObject"
    | "ListObjects"
    | "InsertObject"
    | "DeleteObject"
    | "RewriteObject"
    | "BeginUpload"
    | "UploadChunk"
    | "ReadSigned"
    | "WriteSigned";
  readonly isXml: boolean;
  readonly bucket: string;
  readonly name: string;
  /** The target of a rewrite. */
  readonly target: { readonly bucket: string; readonly name: string } | null;
};

type Found = Pick<GcsRoute, "operation" | "bucket" | "name" | "target">;

export function routeOf(message: IncomingMessage): GcsRoute {
  const [path = "", search = ""] = (message.url ?? "").split(/\?(.*)/s);
  const query = new Map(
    search
      .split("&")
      .filter((pair) => pair !== "")
      .map((pair): readonly [string, string] => {
        const [name = "", value = ""] = pair.split(/=(.*)/s);
        return [decode(name), decode(value.replaceAll("+", " "))];
      }),
  );
  const headers: Record<string, string> = {};
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    headers[name] = (values ?? []).join(",");
  }
  const method = message.method ?? "";
  const isXml = !/^\/(upload\/)?storage\/v1\//.test(path);
  const found = isXml ? signedRoute(method, path) : jsonRoute(method, path, query);
  if (found === null) {
    throw new GcsError(501, "notImplemented", `${method} ${path} is not implemented here`);
  }
  return { method, path, query, headers, isXml, ...found };
}

function signedRoute(method: string, path: string): Found | null {
  const operation = { GET: "ReadSigned", PUT: "WriteSigned" }[method] as
    | Found["operation"]
    | undefined;
  const [bucket = "", name = ""] = decode(path.slice(1)).split(/\/(.*)/s);
  return operation === undefined || name === "" ? null : { operation, bucket, name, target: null };
}

function jsonRoute(method: string, path: string, query: ReadonlyMap<string, string>): Found | null {
  const [bucket = "", collection, name, verb, word, into, o, target, ...more] = path
    .replace(/^\/(upload\/)?storage\/v1\/b\//, "")
    .split("/")
    .map(decode);
  if (collection !== "o" || more.length > 0) return null;
  if (path.startsWith("/upload/")) return uploadRoute(method, bucket, query);
  if (name === undefined) {
    return method === "GET" ? { operation: "ListObjects", bucket, name: "", target: null } : null;
  }
  if (verb === "rewriteTo") {
    const isWhole = method === "POST" && word === "b" && o === "o";
    if (!isWhole || into === undefined || target === undefined) return null;
    return { operation: "RewriteObject", bucket, name, target: { bucket: into, name: target } };
  }
  if (verb !== undefined) return null;
  const operation = { GET: "GetObject", DELETE: "DeleteObject" }[method] as
    | Found["operation"]
    | undefined;
  return operation === undefined ? null : { operation, bucket, name, target: null };
}

function uploadRoute(
  method: string,
  bucket: string,
  query: ReadonlyMap<string, string>,
): Found | null {
  const name = query.get("name") ?? "";
  if (query.has("upload_id")) {
    const isOne = method === "PUT" || method === "DELETE";
    return isOne ? { operation: "UploadChunk", bucket, name, target: null } : null;
  }
  if (method !== "POST") return null;
  const type = query.get("uploadType");
  if (type === "resumable") return { operation: "BeginUpload", bucket, name, target: null };
  const isWhole = type === "media" || type === "multipart";
  return isWhole ? { operation: "InsertObject", bucket, name, target: null } : null;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new GcsError(400, "invalid", "the address cannot be decoded");
  }
}
