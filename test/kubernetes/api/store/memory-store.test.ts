import { expect, test } from "vitest";
import type { KubeObject, WatchEvent } from "../object-store.ts";
import { createObjectStore } from "./create-store.ts";

const configMap = (name: string, data: Record<string, string> = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data,
});

test("an object is created once, with an identity, a time and a version", () => {
  const store = createObjectStore();
  const { metadata } = store.create("configmaps", configMap("a"));
  expect(metadata).toMatchObject({
    name: "a",
    namespace: "default",
    resourceVersion: String(store.version),
  });
  expect(metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
  expect(() => store.create("configmaps", configMap("a"))).toThrow('configmaps "a" already exists');
  const elsewhere = { ...configMap("a"), metadata: { name: "a", namespace: "absent" } };
  expect(() => store.create("configmaps", elsewhere)).toThrow('namespaces "absent" not found');
});

test("an update of an old version is refused, and an equal one stores nothing", () => {
  const store = createObjectStore();
  const first = store.create("configmaps", configMap("a"));
  const second = store.update("configmaps", { ...first, data: { key: "1" } });
  expect(() => store.update("configmaps", { ...first, data: { key: "2" } })).toThrow(
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
  );
  expect(store.update("configmaps", second).metadata.resourceVersion).toBe(
    second.metadata.resourceVersion,
  );
});

test("a finalizer keeps a deleted object until it is removed", () => {
  const store = createObjectStore();
  const events: WatchEvent["type"][] = [];
  store.watch("configmaps", ({ type }) => events.push(type));
  const object = configMap("a");
  store.create("configmaps", {
    ...object,
    metadata: { ...object.metadata, finalizers: ["example.org/keep"] },
  });
  store.delete("configmaps", "default", "a");
  const kept = store.get("configmaps", "default", "a");
  expect(kept?.metadata.deletionTimestamp).toBeDefined();
  if (kept) store.update("configmaps", { ...kept, metadata: { ...kept.metadata, finalizers: [] } });
  expect(store.get("configmaps", "default", "a")).toBeNull();
  expect(events).toEqual(["ADDED", "MODIFIED", "DELETED"]);
});

test("a change that a listener makes is delivered after the one it answers", () => {
  const store = createObjectStore();
  store.watch("configmaps", ({ type, object }) => {
    if (type === "ADDED") store.update("configmaps", { ...object, data: { seen: "yes" } });
  });
  const events: string[] = [];
  store.watch("configmaps", ({ type, object }) => events.push(`${type} ${object.data.seen}`));
  store.create("configmaps", configMap("a"));
  expect(events).toEqual(["ADDED undefined", "MODIFIED yes"]);
});

test("a watch from a forgotten version is refused", () => {
  const store = createObjectStore();
  const { version } = store;
  store.create("configmaps", configMap("a"));
  store.compact();
  expect(() => store.watchChanges("configmaps", version, () => undefined)).toThrow(
    "too old resource version",
  );
});
