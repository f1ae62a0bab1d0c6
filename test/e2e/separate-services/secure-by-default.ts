/** Tests the defaults of the embedded cluster: local only, and no secret readable by others. */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { world } from "./cluster.ts";

let experiment: string;

beforeAll(async () => {
  const config = `
name: prints its environment
entrypoint: env
searcher: { name: single, metric: loss }
`;
  experiment = await world.submit(config, world.code("steps"));
  await world.end(experiment);
});

/** Every string of secrets.json that is long enough to be a secret, and the first token. */
function secrets(): readonly string[] {
  const found: string[] = [readFileSync(join(world.home, "token"), "utf8").trim()];
  const visit = (value: unknown): void => {
    if (typeof value === "string" && value.length >= 24) found.push(value);
    else if (value !== null && typeof value === "object") Object.values(value).forEach(visit);
  };
  visit(JSON.parse(readFileSync(join(world.home, "secrets.json"), "utf8")));
  return found;
}

/** Reads from /proc; returns `gone` if the process or descriptor has ended since it was listed. */
function readOr<T>(gone: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return gone;
    throw error;
  }
}

/** The cluster's processes and all their descendants. */
async function pids(): Promise<readonly number[]> {
  const own = (await world.processes()).flatMap(({ pid }) => (pid === null ? [] : [pid]));
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const stat = readOr("", () => readFileSync(`/proc/${name}/stat`, "utf8"));
    if (stat !== "")
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  const descends = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (own.includes(pid) || descends(parents.get(pid)));
  return [...parents.keys()].filter(descends);
}

test("no secret is in a command line, a log, an event or the environment of a trial", async () => {
  const texts: string[] = [];
  for (const pid of await pids()) {
    texts.push(readOr("", () => readFileSync(`/proc/${pid}/cmdline`, "utf8")));
  }
  expect(texts.length).toBeGreaterThan(12);
  for (const { log } of await world.processes()) texts.push(readFileSync(log, "utf8"));
  texts.push((await world.yard("events", "-o", "json")).out);
  const environment = await world.logs(`${experiment}.1`);
  expect(environment).toContain("TRAINYARD_TRIAL_ID=");
  texts.push(environment);
  const all = texts.join("\n");
  const hidden = secrets();
  expect(hidden.length).toBeGreaterThan(15);
  expect(hidden.filter((secret) => all.includes(secret))).toEqual([]);
});

test("files with secrets are readable by their owner only", () => {
  const files = ["secrets.json", "token", "cluster.json"].map((name) => join(world.home, name));
  const environments = join(world.home, "run", "environment");
  for (const name of readdirSync(environments)) files.push(join(environments, name));
  expect(files.length).toBeGreaterThan(12);
  for (const file of files) expect(`${statSync(file).mode & 0o777} ${file}`).toBe(`384 ${file}`);
});

test("no process listens on an address other than 127.0.0.1", async () => {
  const sockets = new Set<string>();
  for (const pid of await pids()) {
    for (const fd of readOr([], () => readdirSync(`/proc/${pid}/fd`))) {
      const target = readOr("", () => readlinkSync(`/proc/${pid}/fd/${fd}`));
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      if (inode !== undefined) sockets.add(inode);
    }
  }
  const listening = ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, "utf8")
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      // State 0A is LISTEN; the tenth column is the inode.
      .filter((columns) => columns[3] === "0A" && sockets.has(columns[9] ?? ""))
      .map((columns) => `${table} ${columns[1]?.split(":")[0] ?? ""}`),
  );
  expect(listening.length).toBeGreaterThan(8);
  // The kernel's notation of 127.0.0.1.
  expect(new Set(listening)).toEqual(new Set(["tcp 0100007F"]));
});

test("a request from a page of another origin is refused, and so is a call without a token", async () => {
  const { api } = JSON.parse(readFileSync(join(world.home, "cluster.json"), "utf8")) as {
    readonly api: string;
  };
  const token = readFileSync(join(world.home, "token"), "utf8").trim();
  const url = `${api}/api/v1/experiments`;
  const authorization = `Bearer ${token}`;
  expect((await fetch(url, { headers: { authorization } })).status).toBe(200);
  expect((await fetch(url)).status).toBe(401);
  const foreign = await fetch(url, { headers: { authorization, origin: "https://evil.example" } });
  expect(foreign.status).toBe(403);
  expect(foreign.headers.get("access-control-allow-origin")).toBeNull();
});
