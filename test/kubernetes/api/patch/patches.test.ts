import fc from "fast-check";
import { expect, test } from "vitest";
import { RESOURCES } from "../resources.ts";
import { schemaOf } from "../schemas/schema.ts";
import { applyJsonPatch } from "./json-patch.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { applyStrategicMerge } from "./strategic-merge.ts";

const pods = RESOURCES.find(({ kind }) => kind === "Pod");
if (!pods) throw new Error("no Pod");
const schema = schemaOf(pods);
const pod = (...containers: readonly object[]) => ({ spec: { containers } });

test("a JSON patch adds, removes, replaces, moves, copies and tests", () => {
  const document = { a: { "b/c": [1, 2] } };
  const patched = applyJsonPatch(document, [
    { op: "test", path: "/a/b~1c/0", value: 1 },
    { op: "add", path: "/a/b~1c/1", value: 9 },
    { op: "add", path: "/a/b~1c/-", value: 3 },
    { op: "remove", path: "/a/b~1c/0" },
    { op: "copy", from: "/a/b~1c/0", path: "/x" },
    { op: "move", from: "/x", path: "/y" },
    { op: "replace", path: "/y", value: { z: null } },
  ]);
  expect(patched).toEqual({ a: { "b/c": [9, 2, 3] }, y: { z: null } });
  expect(document).toEqual({ a: { "b/c": [1, 2] } });
  expect(() => applyJsonPatch(document, [{ op: "remove", path: "/b" }])).toThrow(
    "path /b does not exist",
  );
  expect(() => applyJsonPatch(document, [{ op: "test", path: "/a", value: 1 }])).toThrow(
    "test failed",
  );
});

test("a merge patch is idempotent, and null removes", () => {
  expect(applyMergePatch({ a: 1, b: { c: 1, d: 2 } }, { a: null, b: { c: 3 } })).toEqual({
    b: { c: 3, d: 2 },
  });
  const json = fc.object({ maxDepth: 2, values: [fc.integer(), fc.constant(null)] });
  fc.assert(
    fc.property(json, json, (document, patch) => {
      const once = applyMergePatch(document, patch);
      expect(applyMergePatch(once, patch)).toEqual(once);
    }),
  );
});

test("a strategic merge patch merges items by their key, and deletes by a directive", () => {
  const stored = pod({ name: "a", image: "i:1", args: ["x"] }, { name: "b", image: "i:1" });
  const changed = applyStrategicMerge(
    stored,
    pod({ name: "a", image: "i:2" }, { name: "c", image: "i:3" }),
    schema,
  );
  expect(changed).toEqual(
    pod(
      { name: "a", image: "i:2", args: ["x"] },
      { name: "b", image: "i:1" },
      { name: "c", image: "i:3" },
    ),
  );
  expect(applyStrategicMerge(stored, pod({ name: "a", $patch: "delete" }), schema)).toEqual(
    pod({ name: "b", image: "i:1" }),
  );
  expect(applyStrategicMerge(stored, pod({ name: "a", args: ["y"] }), schema)).toMatchObject(
    pod({ args: ["y"] }, {}),
  );
});

test("a strategic merge patch orders items, and keeps only named keys of a source", () => {
  const stored = {
    spec: { containers: [{ name: "a" }, { name: "b" }], volumes: [{ name: "v", emptyDir: {} }] },
  };
  const patch = {
    spec: {
      "$setElementOrder/containers": [{ name: "b" }, { name: "a" }],
      volumes: [{ $retainKeys: ["name", "secret"], name: "v", secret: { secretName: "s" } }],
    },
  };
  expect(applyStrategicMerge(stored, patch, schema)).toEqual({
    spec: {
      containers: [{ name: "b" }, { name: "a" }],
      volumes: [{ name: "v", secret: { secretName: "s" } }],
    },
  });
});
