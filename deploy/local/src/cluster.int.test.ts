import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, expect, test } from "vitest";
import {
  clusterDown,
  clusterStatus,
  clusterUp,
  restartProcess,
  type UpOptions,
} from "./cluster.ts";
import type { ClusterInfo, ProcessInfo } from "./cluster-info.ts";
import { homeAt } from "./home/home.ts";
import {
  allProcesses,
  identityOf,
  isAlive,
  type ProcessIdentity,
  signal,
} from "./processes/process-identity.ts";
import { drawnPort, secretsOf, temporaryHome } from "./testing/homes.ts";
import { waitUntil } from "./processes/wait.ts";

const slow = 180_000;
const servicesModule = join(import.meta.dirname, "fixtures", "services.ts");
const homes: string[] = [];

afterEach(async () => {
  for (const home of homes.splice(0)) {
    await clusterDown(home, { purge: true });
    rmSync(home, { recursive: true, force: true });
  }
}, slow);

/** A new home; its cluster is taken down after the test, even when the test fails. */
function newHome(): string {
  const { path } = temporaryHome();
  homes.push(path);
  return path;
}

const up = (home: string, options: UpOptions = {}): ReturnType<typeof clusterUp> =>
  clusterUp({ home, servicesModule, slots: 2, ...options });

function named(info: ClusterInfo | null, name: string): ProcessInfo {
  const found = info?.processes.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no process is called ${name}`);
  return found;
}

function identified(info: ClusterInfo | null, name: string): ProcessIdentity {
  const identity = identityOf(named(info, name).pid ?? 0);
  if (identity === null) throw new Error(`${name} does not run`);
  return identity;
}

function trial(home: string, agent = "agent-1"): ProcessIdentity {
  const file = join(homeAt(home).agents, agent, "runs", "1", "process.json");
  return JSON.parse(readFileSync(file, "utf8")) as ProcessIdentity;
}

async function eventually(
  home: string,
  holds: (info: ClusterInfo) => boolean,
): Promise<ClusterInfo> {
  let last: ClusterInfo | null = null;
  const done = await waitUntil(async () => {
    last = await clusterStatus(home);
    return last !== null && holds(last);
  }, 180_000);
  if (!done || last === null)
    throw new Error(`the condition was not reached: ${JSON.stringify(last)}`);
  return last;
}

async function given(info: ClusterInfo): Promise<Record<string, string>> {
  return (await fetch(`${info.api}/given`)).json() as Promise<Record<string, string>>;
}

test(
  "up, status, a second up and down succeed, and down leaves no process running",
  async () => {
    const home = newHome();
    // All clusters prefer port 8080: between the two starts, another one could take it.
    const port = await drawnPort();
    writeFileSync(homeAt(home).portsFile, JSON.stringify({ gateway: port }));
    const steps: string[] = [];
    const { cluster, alreadyUp } = await up(home, { onProgress: (step) => steps.push(step) });
    expect(alreadyUp).toBe(false);
    expect(cluster.api).toBe(`http://127.0.0.1:${port}`);
    expect(steps.length).toBeGreaterThan(1);
    expect(cluster.processes.map(({ name, kind, state }) => [name, kind, state])).toEqual([
      ["supervisor", "supervisor", "running"],
      ["postgres", "postgres", "running"],
      ["nats", "nats", "running"],
      ["trainyard", "service", "running"],
      ["agent-1", "agent", "running"],
    ]);
    expect(JSON.parse(readFileSync(join(home, "cluster.json"), "utf8"))).toEqual(cluster);
    expect(await clusterStatus(home)).toEqual(cluster);

    const again = await up(home, { agents: 3 });
    expect(again.alreadyUp).toBe(true);
    expect(again.cluster).toEqual(cluster);

    const members = [...cluster.processes.map((one) => identified(cluster, one.name)), trial(home)];
    expect(await clusterDown(home)).toBe(true);
    expect(members.filter(isAlive)).toEqual([]);
    expect(processesNaming(home)).toEqual([]);
    expect(await clusterStatus(home)).toBeNull();
    expect(await clusterDown(home)).toBe(false);

    const ports = readFileSync(join(home, "ports.json"), "utf8");
    const second = await up(home);
    expect(readFileSync(join(home, "ports.json"), "utf8")).toBe(ports);
    expect(second.cluster.api).toBe(cluster.api);
    await clusterDown(home, { purge: true });
    expect(() => readdirSync(home)).toThrow(/ENOENT/);
  },
  slow,
);

/** Processes whose command line names the home, without this process and its shell. */
function processesNaming(home: string): readonly string[] {
  return allProcesses()
    .map((one) => one.argv.join(" "))
    .filter((line) => line.includes(home));
}

test(
  "each process gets its own secrets in a file that only the owner reads, and no secret shows in a process list or log",
  async () => {
    const home = newHome();
    const { cluster } = await up(home, { processes: true });
    const told = await given(cluster);
    expect(told).toMatchObject({
      TRAINYARD_NATS_USER: "gateway",
      TRAINYARD_API_URL: cluster.api,
      TRAINYARD_FIRST_TOKEN_FILE: join(home, "token"),
      TRAINYARD_BLOB_DIR: join(home, "blobs"),
    });
    expect(told["TRAINYARD_RUN_TOKEN_KEY"]).toMatch(/^[0-9a-f]{64}$/);
    const agentFile = readFileSync(join(home, "run", "environment", "agent-1.env"), "utf8");
    expect(agentFile).toContain("TRAINYARD_AGENT_SLOTS=2\n");
    expect(agentFile).toContain("TRAINYARD_AGENT_SLOT_TYPE=cpu\n");
    expect(agentFile).not.toMatch(/POSTGRES|RUN_TOKEN_KEY/);

    const client = new Client({ connectionString: told["TRAINYARD_POSTGRES_URL"] });
    await client.connect();
    const { rows } = await client.query(
      "select current_user as role, count(*)::int as n from log.commits",
    );
    expect(rows).toEqual([{ role: "ty_gateway", n: 0 }]);
    await client.end();

    const secrets = secretsOf(homeAt(home));
    const hidden = [
      secrets.postgresAdminPassword,
      ...Object.values(secrets.postgresPasswords),
      ...Object.values(secrets.natsPasswords),
      secrets.runTokenKey.secretHex,
      readFileSync(join(home, "token"), "utf8").trim(),
    ];
    const pids = new Set(cluster.processes.map((one) => one.pid));
    const shown = allProcesses()
      .filter((one) => pids.has(one.pid))
      .flatMap((one) => [...one.argv, ...one.environment]);
    const logs = readdirSync(join(home, "logs")).map((name) =>
      readFileSync(join(home, "logs", name), "utf8"),
    );
    const seen = [...shown, ...logs].join("\n");
    expect(hidden.filter((secret) => seen.includes(secret))).toEqual([]);

    for (const file of [
      "secrets.json",
      "token",
      "cluster.json",
      "nats/nats.conf",
      "run/control.sock",
    ]) {
      expect([file, statSync(join(home, file)).mode & 0o777]).toEqual([file, 0o600]);
    }
    for (const name of readdirSync(join(home, "run", "environment"))) {
      expect(statSync(join(home, "run", "environment", name)).mode & 0o777).toBe(0o600);
    }
  },
  slow,
);

test(
  "the supervisor restarts a process that dies: a service, NATS with its data folder deleted, PostgreSQL",
  async () => {
    const home = newHome();
    const { cluster } = await up(home, { processes: true });
    for (const name of ["searcher", "gateway", "nats", "postgres", "agent-1"]) {
      const before = identified(cluster, name);
      signal(before, "SIGKILL");
      if (name === "nats") rmSync(join(home, "nats"), { recursive: true, force: true });
      const after = await eventually(
        home,
        (info) => named(info, name).state === "running" && named(info, name).pid !== before.pid,
      );
      expect(isAlive(identified(after, name))).toBe(true);
    }
    // The agent's trial still runs after the agent died.
    expect(isAlive(trial(home))).toBe(true);
    expect((await given(cluster))["TRAINYARD_NATS_USER"]).toBe("gateway");
  },
  slow,
);

test(
  "after kill -9 of the supervisor all processes end but the runs, and the next up, in any mode, finds the runs",
  async () => {
    const home = newHome();
    const identities = (info: ClusterInfo): readonly ProcessIdentity[] =>
      info.processes.map((one) => identified(info, one.name));
    const { cluster } = await up(home, { agents: 2 });
    const before = identities(cluster);
    const trials = [trial(home, "agent-1"), trial(home, "agent-2")];
    signal(identified(cluster, "supervisor"), "SIGKILL");
    // All that the home's path or lock leads to: the watchers of PostgreSQL and NATS, too.
    expect(await waitUntil(() => !before.some(isAlive), 90_000)).toBe(true);
    expect(await waitUntil(() => processesNaming(home).length === 0, 90_000)).toBe(true);
    expect(await clusterStatus(home)).toBeNull();
    expect(trials.every(isAlive)).toBe(true);

    const { cluster: next, alreadyUp } = await up(home, { agents: 2, processes: true });
    expect(alreadyUp).toBe(false);
    expect(next.api).toBe(cluster.api);
    expect(trials.every(isAlive)).toBe(true);
    expect([trial(home, "agent-1"), trial(home, "agent-2")]).toEqual(trials);

    // An up right after the kill waits until the old processes have ended.
    const old = identities(next);
    signal(identified(next, "supervisor"), "SIGKILL");
    const { cluster: last } = await up(home);
    expect(old.filter(isAlive)).toEqual([]);
    expect(last.processes.map((one) => one.name)).toEqual([
      "supervisor",
      "postgres",
      "nats",
      "trainyard",
      "agent-1",
    ]);
    expect(last.api).toBe(cluster.api);
    expect(trials.every(isAlive)).toBe(true);
    expect(await clusterDown(home)).toBe(true);
    expect(trials.filter(isAlive)).toEqual([]);
  },
  slow,
);

test(
  "down without a supervisor waits until all processes have ended, and ends the trials",
  async () => {
    const home = newHome();
    const { cluster } = await up(home);
    const members = cluster.processes.map((one) => identified(cluster, one.name));
    const trialBefore = trial(home);
    const agent = identified(cluster, "agent-1");
    signal(identified(cluster, "supervisor"), "SIGKILL");
    signal(agent, "SIGKILL");
    expect(await clusterDown(home)).toBe(true);
    expect([...members, trialBefore].filter(isAlive)).toEqual([]);
    expect(await clusterDown(home)).toBe(false);
  },
  slow,
);

test(
  "of two concurrent starts one starts the cluster, and both return it",
  async () => {
    const home = newHome();
    const [one, two] = await Promise.all([up(home), up(home)]);
    expect(one.cluster.processes).toEqual(two.cluster.processes);
    expect([one.alreadyUp, two.alreadyUp].filter((already) => !already)).toHaveLength(1);
  },
  slow,
);

test(
  "with --no-restart a dead process stays down until it is restarted by name, and down ends the trials of a dead agent",
  async () => {
    const home = newHome();
    const { cluster } = await up(home, { processes: true, restart: false });
    signal(identified(cluster, "searcher"), "SIGKILL");
    const after = await eventually(home, (info) => named(info, "searcher").state === "ended");
    expect(named(after, "searcher").pid).toBeNull();
    await restartProcess("searcher", home);
    expect(named(await clusterStatus(home), "searcher").state).toBe("running");
    // A dead agent ends no trials when the cluster goes down.
    const trialBefore = trial(home);
    signal(identified(cluster, "agent-1"), "SIGKILL");
    await clusterDown(home);
    expect(isAlive(trialBefore)).toBe(false);
  },
  slow,
);

test(
  "restart by name starts a new process, and an unknown name is refused with the list of known names",
  async () => {
    const home = newHome();
    const { cluster } = await up(home);
    for (const name of ["trainyard", "agent-1", "postgres"]) {
      await restartProcess(name, home);
      const after = await clusterStatus(home);
      expect(named(after, name).state).toBe("running");
      expect(named(after, name).pid).not.toBe(named(cluster, name).pid);
    }
    expect(isAlive(trial(home))).toBe(true);
    await expect(restartProcess("gateway", home)).rejects.toThrow(/runs in one process/);
    await expect(restartProcess("nobody", home)).rejects.toThrow(
      /there are postgres, nats, trainyard, agent-1/,
    );
  },
  slow,
);

test(
  "a home of a newer version is refused with a sentence, and no process is started",
  async () => {
    const home = newHome();
    const file = join(home, "VERSION");
    writeFileSync(file, "99\n");
    await expect(up(home)).rejects.toThrow(/written by a newer Trainyard/);
    expect(await clusterStatus(home)).toBeNull();
  },
  slow,
);

test(
  "a service that keeps ending fails the start with its name and the last lines of its log; the cluster recovers when the service does",
  async () => {
    const home = newHome();
    const broken = join(home, "blobs", "broken-gateway");
    writeFileSync(broken, "");
    const failed = up(home, { processes: true });
    await expect(failed).rejects.toThrow(
      /process gateway keeps ending: its log .*gateway\.log says why.*last lines are:\n(.*\n)*stand-in gateway is broken/,
    );
    // The other processes stay up, so that the trials keep running.
    expect(isAlive(trial(home))).toBe(true);
    rmSync(broken);
    await eventually(home, (info) => named(info, "gateway").state === "running");
    expect((await up(home)).alreadyUp).toBe(true);
  },
  slow,
);

test(
  "a cluster works in a deep home that only root may enter: its socket path fits, status names the database's folder, purge removes it",
  async () => {
    const parent = mkdtempSync(join(tmpdir(), "trainyard-root-only-"));
    const home = join(parent, "a-folder-with-a-long-name".repeat(6), "home");
    homes.push(home, parent);
    const { cluster } = await up(home);
    const { clusterId } = secretsOf(homeAt(home));
    const shared = join("/var/lib/trainyard", clusterId);
    const moved = process.getuid?.() === 0;
    expect(cluster.notes.join()).toContain(moved ? shared : "");
    expect(cluster.notes).toHaveLength(moved ? 1 : 0);
    expect((await clusterStatus(home))?.notes).toEqual(cluster.notes);
    await clusterDown(home, { purge: true });
    expect(existsSync(shared)).toBe(false);
    expect(existsSync(home)).toBe(false);
  },
  slow,
);
