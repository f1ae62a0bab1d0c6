import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readEnvironment } from "./environment.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ty-environment-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

test("the password of NATS is read from the file that a variable names, without its last line break", () => {
  const file = join(folder, "password");
  writeFileSync(file, "a=b #c\n");
  vi.stubEnv("TRAINYARD_NATS_PASSWORD_FILE", file);
  expect(readEnvironment()).toMatchObject({ TRAINYARD_NATS_PASSWORD: "a=b #c" });
});

test("a file of variables may name the file of the password, and a missing one is an error", () => {
  const file = join(folder, "variables");
  writeFileSync(file, `TRAINYARD_NATS_PASSWORD_FILE=${join(folder, "password")}\n`);
  vi.stubEnv("TRAINYARD_ENV_FILE", file);
  expect(readEnvironment).toThrow(/^TRAINYARD_NATS_PASSWORD_FILE: ENOENT.*password/);
  writeFileSync(join(folder, "password"), "\n");
  expect(readEnvironment).toThrow(/^TRAINYARD_NATS_PASSWORD_FILE: .*password is empty$/);
});
