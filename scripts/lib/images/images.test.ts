import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { expect, test } from "vitest";
import { root } from "../root.ts";
import { closureOf, readLockFile } from "./lock-file.ts";
import { billOf } from "./sbom.ts";
import { targets } from "./targets.ts";

const lock = readLockFile();

test("the Containerfile has a stage for each image, and one for what most of them share", () => {
  const text = readFileSync(join(root, "deploy/images/Containerfile"), "utf8");
  const stages = [...text.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, name]) => name);
  expect(stages).toEqual(["node", ...targets.map(({ name }) => name)]);
});

test("the packages of an image are those of the lock file that its programs depend on in production", () => {
  const { workspace, packages, links } = closureOf(lock, ["services/relay"]);
  expect([...workspace.keys()]).toContain("libs/bus");
  expect([...workspace.keys()]).not.toContain("libs/testing");
  const names = packages.map(({ name }) => name);
  expect(names).toContain("pg");
  expect(names).not.toContain("vitest");
  expect(packages.every(({ integrity }) => integrity.startsWith("sha512-"))).toBe(true);
  expect(links).toContainEqual({
    at: "services/relay/node_modules/@trainyard/bus",
    to: "libs/bus",
  });
});

test.each(targets)("the bill of materials of $name is valid by its schema", async (target) => {
  const closure = closureOf(lock, target.packages);
  const pages = target.hasPages ? closureOf(lock, ["services/web"]) : null;
  const commit = { version: "1.2.3", revision: "a".repeat(40), committedAtS: 1_800_000_000 };
  const bill = billOf(target, { lock, closure, pages }, commit);
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  expect(await validator.validate(bill)).toBe(null);
  expect(await validator.validate(bill.replace('"application"', '"program"'))).not.toBe(null);
  expect(billOf(target, { lock, closure, pages }, commit)).toBe(bill);
});
