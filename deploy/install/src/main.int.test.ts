import { expect, test } from "vitest";
import { runInstall } from "./testing/run-install.ts";

test("the programs of an installation are named if another is asked for", async () => {
  const stderr = (name: string): string =>
    `install: there is no program "${name}"; the programs are nats-users, keys, try, migrate\n`;
  expect(await runInstall("user")).toMatchObject({ code: 2, stdout: "", stderr: stderr("user") });
  expect(await runInstall("toString")).toMatchObject({ code: 2, stderr: stderr("toString") });
  expect(await runInstall("install")).toMatchObject({ code: 2, stderr: stderr("") });
});

test("each program exits with 2 and one line for missing settings", async () => {
  for (const [name, told] of [
    ["migrate", /^migrate: environment variables are wrong: TRAINYARD_POSTGRES_ADMIN_URL: .*\n$/],
    ["try", /^try: TRAINYARD_URL must be .*\n$/],
    ["keys", /^keys: the Secret has no name: .*\n$/],
  ] as const) {
    const { code, stdout, stderr } = await runInstall("install", name);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(told);
  }
});
