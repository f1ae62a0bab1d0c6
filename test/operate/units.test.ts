/** The units of systemd in deploy/systemd, with this checkout in the place of /srv/trainyard. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const units = join(root, "deploy/systemd");
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ty-units-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The unit as it would be installed for this checkout; %i is what its name has after the @. */
const unitOf = (name: string, instance = ""): string =>
  readFileSync(join(units, name), "utf8")
    .replaceAll("/srv/trainyard", root)
    .replaceAll("/etc/trainyard", folder)
    .replaceAll("%i", instance);

const valuesOf = (unit: string, key: string): readonly string[] =>
  [...unit.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);

/** Runs ExecStart with the environment that systemd gives the unit. Returns the exit code and the output. */
function started(unit: string): Promise<{ code: unknown; said: string }> {
  const [program = "", ...args] = valuesOf(unit, "ExecStart")[0]?.split(" ") ?? [];
  const set = valuesOf(unit, "Environment").map((line) => line.split("="));
  const env = {
    ...{ PATH: process.env["PATH"], TY_TEST_RUN: process.env["TY_TEST_RUN"] },
    ...(valuesOf(unit, "User").length === 0 ? {} : { HOME: folder }),
    ...Object.fromEntries(set),
  };
  return new Promise((resolve) => {
    execFile(program, args, { cwd: "/", env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, said: stdout + stderr }),
    );
  });
}

describe("a unit of systemd", () => {
  test("starts a service by its name with the settings of its file, and does not try wrong ones again", async () => {
    const unit = unitOf("trainyard.service", "experiments");
    writeFileSync(join(folder, "experiments.env"), "TRAINYARD_NATS_URL=nats://127.0.0.1:4222\n");
    const { code, said } = await started(unit);
    expect(said).toMatch(/cannot start: .*TRAINYARD_POSTGRES_URL: is not set\n$/);
    expect(said).not.toContain("TRAINYARD_NATS_URL");
    expect(valuesOf(unit, "RestartPreventExitStatus")).toEqual([String(code)]);
  });

  test("starts the agent as root with a HOME, and its runs survive its restart", async () => {
    const unit = unitOf("trainyard-agent.service");
    expect(valuesOf(unit, "User")).toEqual(["root"]);
    writeFileSync(join(folder, "agent.env"), "TRAINYARD_AGENT_SLOTS=none\n");
    const { code, said } = await started(unit);
    expect(said).toMatch(/cannot start: environment variables are wrong: .*TRAINYARD_AGENT_SLOTS/);
    expect(valuesOf(unit, "RestartPreventExitStatus")).toEqual([String(code)]);
    expect(valuesOf(unit, "KillMode")).toEqual(["process"]);
    expect(valuesOf(unit, "Delegate")).toEqual(["yes"]);
  });
});
