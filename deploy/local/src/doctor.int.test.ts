import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clusterDoctor } from "./doctor.ts";
import { prepareHome } from "./home/home.ts";
import { ensureApiToken, ensureSecrets } from "./home/secrets.ts";
import { temporaryHome } from "./testing/homes.ts";

test("doctor reports that runs have no users of their own here, and names the data that their code can read", () => {
  using home = temporaryHome();
  const [users] = clusterDoctor(home);
  expect(users).toMatchObject({ check: "users of runs", state: "note" });
  expect(users?.detail).toMatch(/off in the embedded cluster.*passwords.*tokens of other runs/);
});

test("doctor names each secret that other users may read, and reports none in a new cluster", () => {
  using home = temporaryHome();
  prepareHome(home);
  ensureSecrets(home, { postgresRoles: [], natsUsers: [] });
  ensureApiToken(home);
  expect(clusterDoctor(home).map(({ state }) => state)).toEqual(["note", "ok"]);
  const environments = join(home.run, "environment");
  mkdirSync(environments);
  const settings = join(environments, "agent-1.env");
  writeFileSync(settings, "", { mode: 0o600 });
  chmodSync(settings, 0o644);
  chmodSync(home.tokenFile, 0o640);
  const problems = clusterDoctor(home).filter(({ state }) => state === "problem");
  expect(problems.map(({ detail }) => detail)).toEqual([
    expect.stringContaining(home.tokenFile),
    expect.stringContaining(settings),
  ]);
});
