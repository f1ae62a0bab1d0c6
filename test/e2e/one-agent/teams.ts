/** Two people share a cluster that had no users: they sign in, and a role decides whether one sees the other's work. */
import { createHash } from "node:crypto";
import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@trainyard/client";
import { programFile } from "@trainyard/kernel/program-file";
import { checkout } from "@trainyard/local-cluster";
import { expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

const config = `
name: hidden
entrypoint: python3 train.py
workspace: teams
searcher: { name: single, metric: loss }
`;

/** The environment of a person's own machine: no home of a cluster, and logins of their own. */
const machineOf = (person: string) => ({
  TRAINYARD_HOME: "",
  XDG_CONFIG_HOME: join(world.folder, person),
});

const yard = (person: string, ...args: readonly string[]) =>
  world.yardWith(machineOf(person), ...args);

function tokenOf(person: string): string {
  const file = join(world.folder, person, "trainyard", "clusters.json");
  const { current, clusters } = JSON.parse(readFileSync(file, "utf8")) as {
    readonly current: string;
    readonly clusters: Readonly<Record<string, { readonly token: string }>>;
  };
  return clusters[current]?.token ?? "";
}

const clientOf = (person: string): Client => new Client({ url: world.api, token: tokenOf(person) });

/** Does what a browser does: signs in with name and password, and confirms the code on the page. */
async function confirm(page: URL, name: string, typed: string): Promise<void> {
  const password = createHash("sha512").update(`GubPEmmotfiK9TMD6Zdw${typed}`).digest("hex");
  const post = (path: string, body: object, cookie = "") =>
    fetch(`${world.api}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: page.origin, cookie },
      body: JSON.stringify(body),
    });
  const opened = await post("/api/v1/sessions", { name, password });
  const [cookie = ""] = (opened.headers.get("set-cookie") ?? "").split(";");
  const code = page.searchParams.get("code") ?? "";
  const answered = await post(`/api/v1/device-logins/${code}:answer`, { confirm: true }, cookie);
  expect([opened.status, answered.status]).toEqual([200, 200]);
}

/** Runs `yard login` until it has printed its page, confirms the code, and waits for its end. */
async function signIn(person: string, password: string): Promise<string> {
  const program = programFile(join(checkout, "services", "cli", "src", "main.ts"));
  const child = spawn(process.execPath, [program, "login", world.api], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...machineOf(person) },
  });
  const seen = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => (seen.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (seen.err += chunk.toString()));
  const ended = new Promise((resolve) => child.on("close", resolve));
  const page = () => /^open (\S+)/m.exec(seen.err)?.[1] ?? "";
  await eventually("yard login has printed its page", async () => page() !== "");
  await confirm(new URL(page()), person, password);
  expect(await ended).toBe(0);
  return seen.out;
}

/** Signs in as a notebook without a browser does. */
async function signInFromPython(person: string, password: string): Promise<string> {
  const script = `
import sys
from trainyard import client
client.login(sys.argv[1], user=sys.argv[2], password=sys.argv[3])
print(client.whoami().user)
`;
  const args = ["-c", script, world.api, person, password];
  const { stdout } = await promisify(execFile)("python3", args, {
    cwd: world.folder,
    env: {
      PATH: process.env["PATH"],
      TY_TEST_RUN: process.env["TY_TEST_RUN"],
      PYTHONPATH: join(checkout, "libs", "sdk-python", "src"),
      PYTHONDONTWRITEBYTECODE: "1",
      ...machineOf(person),
    },
  });
  return stdout;
}

test("two people share a cluster that had no users, and a role lets one see the other's experiment", async () => {
  const ada = await world.yard("user", "create", "ada");
  expect(ada.err).toContain("ada is the first user and a cluster admin");
  expect(await signIn("ada", ada.out.trim())).toContain(" as ada\n");
  const bo = await clientOf("ada").call("createUser", { name: "bo" });
  expect(await signInFromPython("bo", bo.password)).toBe("bo\n");

  await clientOf("ada").call("createWorkspace", { name: "teams" });
  const { experiment } = await clientOf("ada").call("createExperiment", { config, paused: true });
  const id = experiment?.id ?? "";
  expect(await yard("bo", "e", "describe", id)).toMatchObject({ code: 2, out: "" });

  const given = await yard("ada", "role", "give", "viewer", "--user", "bo", "--workspace", "teams");
  expect(given).toMatchObject({ code: 0, out: "bo is viewer in teams\n" });
  await eventually("bo sees the experiment", async () => {
    const seen = await clientOf("bo").call("getExperiment", { experiment: id });
    return seen.name === "hidden";
  });
  const killed = await yard("bo", "e", "kill", id);
  expect(killed.code).toBe(2);
  expect(killed.err).toContain("experiment_control");

  const token = tokenOf("ada");
  expect(await yard("ada", "logout")).toMatchObject({ code: 0 });
  const ended = new Client({ url: world.api, token }).call("getMe", {});
  await expect(ended).rejects.toMatchObject({ problem: { status: 401 } });
  expect((await world.yard("whoami")).out).toMatch(/^user +local$/m);
});
