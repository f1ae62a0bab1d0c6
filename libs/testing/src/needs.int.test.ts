import { afterEach, expect, test, vi } from "vitest";
import { absent, missingPrograms, needs, notRun } from "./needs.ts";

afterEach(() => vi.unstubAllEnvs());

test("a test without what it needs is skipped with the words that `npm test` counts", () => {
  vi.stubEnv("TRAINYARD_REQUIRE", "torch,podman");
  const skip = (note: string): never => {
    throw new Error(note);
  };
  expect(() => notRun(skip, absent("redis", "redis-server"))).toThrow(`${needs}redis-server`);
});

test("a test without what TRAINYARD_REQUIRE names fails with the reason", () => {
  vi.stubEnv("TRAINYARD_REQUIRE", "torch,podman");
  expect(() => absent("podman", "runc")).toThrow(
    "TRAINYARD_REQUIRE names podman, which is not here: runc",
  );
});

test("the programs that are missing are those that are not on PATH", () => {
  expect(missingPrograms("sh", "no-such-program")).toEqual(["no-such-program"]);
});
