import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkout, homeFolder, prepareHome, removeHome } from "./home.ts";
import { ensureApiToken, ensureSecrets } from "./secrets.ts";
import { temporaryHome } from "../testing/homes.ts";

const needed = { postgresRoles: ["ty_a"], natsUsers: ["a"] };

test("the home is .trainyard in the checkout unless TRAINYARD_HOME names another; a relative path starts at the caller's folder", () => {
  expect(homeFolder({})).toBe(join(checkout, ".trainyard"));
  expect(existsSync(join(checkout, "pnpm-workspace.yaml"))).toBe(true);
  expect(homeFolder({ TRAINYARD_HOME: "/srv/ty" })).toBe("/srv/ty");
  expect(homeFolder({ TRAINYARD_HOME: "ty", TRAINYARD_CALLER_DIR: "/home/me" })).toBe(
    "/home/me/ty",
  );
});

test("an older layout is migrated step by step, and a step that failed is run again", () => {
  using home = temporaryHome();
  const done: string[] = [];
  let broken = true;
  const steps = [
    () => done.push("first"),
    () => {
      if (broken) throw new Error("disk full");
      done.push("second");
    },
  ].map((step) => () => step());
  expect(() => prepareHome(home, steps)).toThrow("disk full");
  broken = false;
  prepareHome(home, steps);
  prepareHome(home, steps);
  expect(done).toEqual(["first", "second"]);
  expect(readFileSync(home.versionFile, "utf8")).toBe("3\n");
});

test("a newer layout is refused with a sentence, and nothing is touched", () => {
  using home = temporaryHome();
  writeFileSync(home.versionFile, "9\n");
  expect(() => prepareHome(home)).toThrow(
    /written by a newer Trainyard \(layout 9, this one knows 1\)/,
  );
  expect(readFileSync(home.versionFile, "utf8")).toBe("9\n");
});

test("secrets are random per cluster, stay the same, are extended by new names, and are readable by the owner only", () => {
  using home = temporaryHome();
  using other = temporaryHome();
  const first = ensureSecrets(home, needed);
  const more = ensureSecrets(home, { postgresRoles: ["ty_a", "ty_b"], natsUsers: ["a"] });
  expect(more).toEqual({
    ...first,
    postgresPasswords: { ...first.postgresPasswords, ty_b: expect.any(String) },
  });
  const values = [first, ensureSecrets(other, needed)].flatMap((secrets) => [
    secrets.clusterId,
    secrets.postgresAdminPassword,
    secrets.postgresPasswords["ty_a"],
    secrets.natsPasswords["a"],
    secrets.runTokenKey.secretHex,
  ]);
  expect(new Set(values).size).toBe(10);
  expect(Buffer.from(first.runTokenKey.secretHex, "hex")).toHaveLength(32);
  expect(statSync(home.secretsFile).mode & 0o777).toBe(0o600);
});

test("lost secrets of an existing database are reported, not replaced", () => {
  using home = temporaryHome();
  mkdirSync(join(home.postgres, "data"), { recursive: true });
  expect(() => ensureSecrets(home, needed)).toThrow(/secrets.json is missing/);
  expect(existsSync(home.secretsFile)).toBe(false);
});

test("the first API token has the platform's form, stays the same, and is readable by the owner only", () => {
  using home = temporaryHome();
  const token = ensureApiToken(home);
  expect(token).toMatch(/^ty_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/);
  expect(ensureApiToken(home)).toBe(token);
  expect(statSync(home.tokenFile).mode & 0o777).toBe(0o600);
});

test("removing a home keeps the files that are not the cluster's", () => {
  using home = temporaryHome();
  ensureApiToken(home);
  writeFileSync(join(home.path, "mine.txt"), "kept");
  removeHome(home);
  expect(readdirSync(home.path)).toEqual(["mine.txt"]);
});
