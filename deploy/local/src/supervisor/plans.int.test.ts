import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { agentMain, services } from "../fixtures/services.ts";
import { checkout } from "../home/home.ts";
import { ensureSecrets } from "../home/secrets.ts";
import { temporaryHome } from "../testing/homes.ts";
import { planProcesses } from "./plans.ts";

const supervised = join(import.meta.dirname, "supervised-main.ts");

afterEach(() => vi.unstubAllEnvs());

test("a process starts from its compiled program, and from its source if that was removed meanwhile", () => {
  using home = temporaryHome();
  const source = join(services[0]?.folder ?? "", "src", "main.ts");
  const programs = join(home.path, "programs");
  const compiled = join(programs, relative(checkout, source).replace(/\.ts$/, ".js"));
  mkdirSync(dirname(compiled), { recursive: true });
  writeFileSync(compiled, "");
  vi.stubEnv("TRAINYARD_PROGRAMS", programs);
  const secrets = ensureSecrets(home, { postgresRoles: [], natsUsers: [] });
  const cluster = { home, secrets, ports: {}, services, agents: [], agentMain };
  const [plan] = planProcesses({ ...cluster, separate: true, webDir: null });
  expect(plan?.command().parameters).toEqual([supervised, compiled]);
  rmSync(compiled);
  expect(plan?.command().parameters).toEqual([supervised, source]);
});
