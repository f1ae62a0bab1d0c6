// Patches of content type application/json-patch+json. Source: RFC 6902, RFC 6901.
import { isDeepStrictEqual } from "node:util";
import { ApiFault, badRequest } from "../fault.ts";

type Operation = { op: string; path: string; from?: string; value?: unknown };
type Container = Record<string, unknown> | unknown[];

export const applyJsonPatch = (document: unknown, patch: unknown): unknown => {
  if (!Array.isArray(patch)) {
    throw badRequest(
      "error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch",
    );
  }
  const holder = { root: structuredClone(document) };
  for (const operation of patch as Operation[]) perform(holder, operation);
  return holder.root;
};

const perform = (holder: { root: unknown }, { op, path, from, value }: Operation): void => {
  switch (op) {
    case "add":
      add(holder, path, structuredClone(value));
      return;
    case "remove":
      remove(holder, path);
      return;
    case "replace":
      if (path === "") holder.root = structuredClone(value);
      else {
        const { parent, key } = locate(holder, path);
        read(parent, key, path);
        write(parent, key, structuredClone(value));
      }
      return;
    case "move":
      add(holder, path, remove(holder, from ?? ""));
      return;
    case "copy":
      add(holder, path, structuredClone(valueAt(holder, from ?? "")));
      return;
    case "test":
      if (isDeepStrictEqual(valueAt(holder, path), value)) return;
      throw unprocessable(`testing value ${path} failed: test failed`);
    default:
      throw unprocessable(`Unexpected kind: ${op}`);
  }
};

const unprocessable = (message: string): ApiFault =>
  new ApiFault(
    422,
    "Invalid",
    `the server rejected our request due to an error in our request: ${message}`,
  );

const missing = (path: string): ApiFault =>
  unprocessable(`path ${path} does not exist: missing path`);

const keysOf = (path: string): string[] =>
  path
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));

const valueAt = (holder: { root: unknown }, path: string): unknown => {
  let value = holder.root;
  for (const key of keysOf(path)) value = read(value as Container, key, path);
  return value;
};

const locate = (holder: { root: unknown }, path: string): { parent: Container; key: string } => {
  const keys = keysOf(path);
  const key = keys.pop() ?? "";
  let parent = holder.root;
  for (const step of keys) parent = read(parent as Container, step, path);
  if (typeof parent !== "object" || parent === null) throw missing(path);
  return { parent: parent as Container, key };
};

const read = (container: Container, key: string, path: string): unknown => {
  if (typeof container !== "object" || container === null) throw missing(path);
  if (!Object.hasOwn(container, key)) throw missing(path);
  return (container as Record<string, unknown>)[key];
};

const write = (container: Container, key: string, value: unknown): void => {
  (container as Record<string, unknown>)[key] = value;
};

const add = (holder: { root: unknown }, path: string, value: unknown): void => {
  if (path === "") {
    holder.root = value;
    return;
  }
  const { parent, key } = locate(holder, path);
  if (!Array.isArray(parent)) {
    write(parent, key, value);
    return;
  }
  const index = key === "-" ? parent.length : Number(key);
  if (!Number.isInteger(index) || index < 0 || index > parent.length) throw missing(path);
  parent.splice(index, 0, value);
};

const remove = (holder: { root: unknown }, path: string): unknown => {
  const { parent, key } = locate(holder, path);
  const value = read(parent, key, path);
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
  return value;
};
