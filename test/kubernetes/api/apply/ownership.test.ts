import fc from "fast-check";
import { expect, test } from "vitest";
import type { Fields, KubeObject } from "../object-store.ts";
import { RESOURCES } from "../resources.ts";
import { schemaOf } from "../schemas/schema.ts";
import { decodeObject } from "../validation/decode.ts";
import { appliedLeaves, fieldSetOf, fieldsV1Of } from "./field-set.ts";
import { applyConfiguration, trackUpdate, type Writer } from "./ownership.ts";

const resource = RESOURCES.find(({ kind }) => kind === "Deployment");
if (!resource) throw new Error("no Deployment");
const schema = schemaOf(resource);

const writer = (manager: string): Writer => ({ manager, apiVersion: "apps/v1", subresource: "" });
const apply = (
  configuration: KubeObject,
  stored: KubeObject | null,
  manager: string,
  force = true,
): KubeObject =>
  decodeObject(applyConfiguration(configuration, stored, schema, writer(manager), force), schema)
    .object;

const name = fc.constantFrom("a", "b", "c");
const labels = fc.dictionary(name, fc.constantFrom("1", "2"), { maxKeys: 2 });
const env = fc.uniqueArray(fc.record({ name, value: fc.constantFrom("x", "y") }), {
  selector: (one) => one.name,
  maxLength: 2,
});
const ports = fc.uniqueArray(
  fc.record({ containerPort: fc.constantFrom(80, 81), protocol: fc.constantFrom("TCP", "UDP") }),
  { selector: (one) => `${one.containerPort}${one.protocol}`, maxLength: 3 },
);
const container = fc.record(
  {
    name,
    image: fc.constantFrom("i:1", "i:2"),
    args: fc.array(name, { maxLength: 2 }),
    env,
    ports,
  },
  { requiredKeys: ["name"] },
);
const containers = fc.uniqueArray(container, {
  selector: (one) => one.name,
  minLength: 1,
  maxLength: 3,
});
const template = fc.record(
  {
    metadata: fc.record({ labels }),
    spec: fc.record({ containers, nodeSelector: labels }, { requiredKeys: ["containers"] }),
  },
  { requiredKeys: ["spec"] },
);
const spec = fc.record(
  { replicas: fc.nat(3), paused: fc.boolean(), template },
  { requiredKeys: ["template"] },
);
const configuration: fc.Arbitrary<KubeObject> = fc
  .record({ annotations: labels, spec })
  .map(({ annotations, spec }) => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default", annotations },
    spec,
  }));

/** Without times, and without what is empty: an empty map and an absent one are the same to a reader. */
const content = (object: KubeObject): unknown => {
  const { managedFields: _managers, ...metadata } = object.metadata;
  return pruned({ ...object, metadata });
};
const pruned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(pruned);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, pruned(inner)] as const);
  return Object.fromEntries(
    entries.filter(([, inner]) => JSON.stringify(inner) !== "{}" && JSON.stringify(inner) !== "[]"),
  );
};
const containersByName = (object: KubeObject): Map<string, Fields> =>
  new Map((object.spec.template.spec.containers as Fields[]).map((one) => [one.name, one]));

test("an apply is idempotent", () => {
  fc.assert(
    fc.property(configuration, (given) => {
      const once = apply(given, null, "one");
      // The time says when the set of fields changed.
      for (const entry of once.metadata.managedFields ?? []) entry.time = "2026-01-01T00:00:00Z";
      const twice = apply(given, once, "one");
      expect(content(twice)).toEqual(content(once));
      expect(twice.metadata.managedFields).toEqual(once.metadata.managedFields);
    }),
  );
});

test("a field goes that its only manager no longer applies", () => {
  fc.assert(
    fc.property(configuration, configuration, (first, second) => {
      const object = apply(second, apply(first, null, "one"), "one");
      expect(content(object)).toEqual(content(apply(second, null, "one")));
    }),
  );
});

test("another manager's fields stay when one withdraws", () => {
  fc.assert(
    fc.property(configuration, configuration, (mine, other) => {
      const both = apply(other, apply(mine, null, "one"), "two");
      const bare: KubeObject = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web", namespace: "default" },
      };
      const left = apply(bare, both, "one");
      expect(content(left)).toEqual(content(apply(other, null, "two")));
    }),
  );
});

test("an apply without force changes no field of another manager", () => {
  fc.assert(
    fc.property(configuration, configuration, (mine, other) => {
      const before = apply(mine, null, "one");
      let after: KubeObject;
      try {
        after = apply(other, before, "two", false);
      } catch (error) {
        expect(String(error)).toMatch(/Apply failed with \d+ conflicts?: conflicts? with "one"/);
        return;
      }
      for (const [name, one] of containersByName(before)) {
        const now = containersByName(after).get(name);
        if (one.image !== undefined) expect(now?.image).toBe(one.image);
      }
      if (mine.spec.replicas !== undefined) expect(after.spec.replicas).toBe(mine.spec.replicas);
    }),
  );
});

/** Empty, they are the same as absent. */
const collections = ["f:annotations", "f:args", "f:env", "f:labels", "f:nodeSelector", "f:ports"];

test("every field of a set is in the object", () => {
  fc.assert(
    fc.property(configuration, configuration, configuration, (first, second, third) => {
      const object = apply(third, apply(second, apply(first, null, "one"), "two"), "one");
      const updated = structuredClone(object);
      updated.spec.replicas = 9;
      trackUpdate(updated, object, schema, writer("three"));
      const owners = (updated.metadata.managedFields ?? []).filter(({ fieldsV1 }) =>
        fieldSetOf(fieldsV1).has("f:spec\nf:replicas"),
      );
      expect(owners.map(({ manager }) => manager)).toEqual(["three"]);
      for (const { fieldsV1 } of updated.metadata.managedFields ?? []) {
        for (const path of [...fieldSetOf(fieldsV1)].map((one) => one.split("\n"))) {
          if (!collections.includes(path.at(-1) ?? "")) expect(isIn(updated, path)).toBe(true);
        }
      }
    }),
  );
});

const isIn = (value: unknown, path: readonly string[]): boolean => {
  const [first, ...rest] = path;
  if (first === undefined) return value !== undefined;
  const text = first.slice(2);
  if (first.startsWith("f:")) return isIn((value as Fields | undefined)?.[text], rest);
  const keys = JSON.parse(text) as Fields;
  const item = (value as Fields[]).find((one) =>
    Object.entries(keys).every(([key, wanted]) => one[key] === wanted),
  );
  return isIn(item, rest);
};

test("a set of fields is the same after it was written", () => {
  const element = fc.constantFrom("f:a", "f:b", 'k:{"name":"x"}', 'v:"y"');
  const path = fc
    .array(element, { minLength: 1, maxLength: 4 })
    .map((elements) => elements.join("\n"));
  fc.assert(
    fc.property(fc.uniqueArray(path, { maxLength: 8 }), (paths) => {
      expect([...fieldSetOf(fieldsV1Of(new Set(paths)))].sort()).toEqual([...paths].sort());
    }),
  );
});

test("an item that is applied twice is refused", () => {
  const twice = { name: "a", image: "i:1" };
  const given = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: { template: { spec: { containers: [twice, twice] } } },
  };
  expect(() => apply(given, null, "one")).toThrow(
    '.spec.template.spec.containers: duplicate entries for key [name="a"]',
  );
});

test("an item without its name is the one without a name, as far as its type must have one", () => {
  const given = (kind: string, rest: object): KubeObject => ({
    apiVersion: "v1",
    kind,
    metadata: { name: "a", namespace: "default" },
    ...rest,
  });
  const pods = given("Pod", { spec: { containers: [{ image: "i:1" }] } });
  const account = given("ServiceAccount", { secrets: [{ kind: "Secret" }] });
  const leaves = (object: KubeObject) => {
    const own = RESOURCES.find(({ kind }) => kind === object.kind);
    return own && [...appliedLeaves(object, schemaOf(own), "a").keys()];
  };
  expect(leaves(pods)).toContain('f:spec\nf:containers\nk:{"name":""}\nf:image');
  expect(() => leaves(account)).toThrow(
    '.secrets: element 0: associative list with keys has an element that omits key field "name"',
  );
});

test("the first apply to an object of unknown origin takes nothing away", () => {
  const stored: KubeObject = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: { replicas: 3, template: { spec: { containers: [{ name: "a", image: "i:1" }] } } },
  };
  const given = structuredClone(stored);
  given.spec = { template: { spec: { containers: [{ name: "a", image: "i:2" }] } } };
  expect(() => apply(given, stored, "one", false)).toThrow(
    'conflict with "before-first-apply" using apps/v1',
  );
  expect(apply(given, stored, "one").spec.replicas).toBe(3);
});
