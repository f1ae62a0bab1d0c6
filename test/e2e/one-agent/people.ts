/** The people of a cluster with users, each on a machine of its own. */
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@trainyard/client";
import { programFile } from "@trainyard/kernel/program-file";
import { checkout } from "@trainyard/local-cluster";
import { expect } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

/** The environment of a person's own machine: no home of a cluster, and logins of their own. */
export const machineOf = (person: string) => ({
  TRAINYARD_HOME: "",
  XDG_CONFIG_HOME: join(world.folder, person),
});

export const yard = (person: string, ...args: readonly string[]) =>
  world.yardWith(machineOf(person), ...args);

export function tokenOf(person: string): string {
  const file = join(world.folder, person, "trainyard", "clusters.json");
  const { current, clusters } = JSON.parse(readFileSync(file, "utf8")) as {
    readonly current: string;
    readonly clusters: Readonly<Record<string, { readonly token: string }>>;
  };
  return clusters[current]?.token ?? "";
}

export const clientOf = (person: string): Client =>
  new Client({ url: world.api, token: tokenOf(person) });

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
export async function signIn(person: string, password: string): Promise<string> {
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
