import { existsSync, lstatSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { livingProcesses } from "@trainyard/kernel/process-identity";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { ContainerWorld, inImage } from "./testing/container-world.ts";
import {
  nextRun,
  notebookInContainer,
  pageThrough,
  printed,
  reading,
  startNotebookAgent,
  writing,
} from "./testing/container-notebook.ts";
import { launchOf, newFolder, packed, removeFolders, runAt, taskOf } from "./testing/examples.ts";
import { HolderClient } from "./testing/holder-client.ts";
import { startTunnelDoor } from "./testing/tunnel-door.ts";
import { needPodman, Podman, podmanProblem, testImage } from "./testing/podman.ts";

// The tests start real containers on a shared machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });
const patient = { timeout: 90_000, interval: 50 };

let podman: Podman;
let world: ContainerWorld | null = null;

beforeAll(async () => {
  if (podmanProblem() === null) podman = await Podman.start();
});
afterAll(async () => {
  if (podmanProblem() === null) await podman[Symbol.asyncDispose]();
  removeFolders();
});
beforeEach(({ skip }) => needPodman(skip));
afterEach(async () => {
  await world?.[Symbol.asyncDispose]();
  world = null;
});

async function started(variables: Readonly<Record<string, string>> = {}): Promise<ContainerWorld> {
  world = await ContainerWorld.open(podman.socket);
  await world.startAgent(variables);
  return world;
}

/** Each marker is a unique number, which identifies the processes of a test. */
let markers = 0;
const newMarker = (): string => `87${process.pid}.${(markers += 1)}`;

function withText(text: string): number {
  return livingProcesses().filter(({ pid }) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  }).length;
}

test("a run in a container gets its image, its mounts and the agent's limits", async () => {
  const data = newFolder();
  const { platform, ended, pathOf } = bound(
    await started({
      TRAINYARD_AGENT_CONTAINER_HOST_PATHS: data,
      TRAINYARD_AGENT_CONTAINER_CAPABILITIES: "SYS_PTRACE",
      TRAINYARD_AGENT_MEMORY: "256M",
      TRAINYARD_AGENT_CONTAINER_CPUS: "0.5",
      TRAINYARD_AGENT_CONTAINER_ULIMITS: "nofile=333:444,nproc=4096:4096",
    }),
  );
  writeFileSync(join(data, "a.txt"), "data of the host\n");
  const launch = launchOf(
    `cat data/a.txt /same/a.txt; touch /same/b 2>/dev/null || echo refused
     df -m /dev/shm | tail -1 | tr -s ' ' | cut -d ' ' -f 2; ulimit -n
     id -u; pwd; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status; ls /home 2>/dev/null || echo no home of the host`,
    inImage(testImage, {
      bind_mounts: [
        { host_path: data, container_path: "data" },
        { host_path: data, container_path: "/same", read_only: true },
      ],
      resources: { shm_size: "96M" },
      environment: {
        image: { cpu: testImage, cuda: "other" },
        add_capabilities: ["SYS_PTRACE"],
        drop_capabilities: ["NET_RAW"],
      },
    }),
  );
  expect((await ended(launch)).exit).toMatchObject({ code: 0, message: "" });
  const texts = platform.texts(launch);
  const capabilities = BigInt(`0x${/^CapEff:\t(\S+)/.exec(texts[7] ?? "")?.[1] ?? "0"}`);
  expect(texts.toSpliced(7, 1)).toEqual([
    "data of the host",
    "data of the host",
    "refused",
    "96",
    "333",
    "0",
    join(pathOf(launch), "work", "1"),
    "NoNewPrivs:\t1",
    "no home of the host",
  ]);
  // Numbers of capabilities(7): NET_RAW is 13, SYS_PTRACE 19.
  expect([capabilities >> 13n, capabilities >> 19n].map((bits) => bits & 1n)).toEqual([0n, 1n]);
  expect(podman.containers()).toEqual([]);
});

test("the container has the limits of the agent's settings for each of its slots", async () => {
  const { platform } = await started({
    TRAINYARD_AGENT_MEMORY: "128M",
    TRAINYARD_AGENT_CONTAINER_CPUS: "0.5",
    TRAINYARD_AGENT_CONTAINER_NETWORK: "none",
  });
  const launch = launchOf("echo up; sleep 1000", inImage());
  platform.run(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  const [name = ""] = podman.containers();
  const [{ HostConfig: host, Config: made }] = JSON.parse(podman.run("inspect", name)) as [
    { HostConfig: Record<string, unknown>; Config: { Labels: Record<string, string> } },
  ];
  expect(host).toMatchObject({
    Memory: 256 * 1024 ** 2,
    NanoCpus: 500_000_000,
    NetworkMode: "none",
  });
  expect(made.Labels).toMatchObject({ "trainyard.allocation": launch.allocation });
});

test("a startup hook runs before the entrypoint, and a failing hook ends the run", async () => {
  const { platform, ended } = bound(await started());
  const hook = "export FROM_HOOK=yes\necho hooked\n";
  const good = platform.addContext(
    await packed({ "startup-hook.sh": hook, "a.sh": "echo $FROM_HOOK" }),
  );
  const launch = launchOf("sh a.sh", { ...inImage(), contextDigest: good });
  expect((await ended(launch)).exit?.code).toBe(0);
  expect(platform.texts(launch)).toEqual(["hooked", "yes"]);
  const bad = platform.addContext(await packed({ "startup-hook.sh": "(exit 7)\n" }));
  const failed = launchOf("echo never", { ...inImage(), contextDigest: bad });
  expect((await ended(failed)).exit?.code).toBe(7);
  expect(platform.texts(failed)).toEqual([]);
});

test("a launch whose configuration cannot work fails as the run's own failure, with a sentence", async () => {
  const allowed = {
    TRAINYARD_AGENT_CONTAINER_HOST_PATHS: `/no,${realpathSync(tmpdir())}`,
    TRAINYARD_AGENT_CONTAINER_CAPABILITIES: "*",
  };
  const { platform, ended } = bound(await started(allowed));
  const why = async (launch: ReturnType<typeof launchOf>): Promise<string> => {
    const { launchFailed, exit } = await ended(launch);
    expect({ launchFailed, code: exit?.code }).toEqual({ launchFailed: false, code: 126 });
    const message = exit?.message ?? "";
    expect(message).toContain(
      platform
        .texts(launch)
        .at(-1)
        ?.replace(/^.*not be started: /, ""),
    );
    return message;
  };
  expect(await why(launchOf("true"))).toContain("has no environment.image");
  expect(await why(launchOf("true", inImage("../../containers")))).toBe(
    '"../../containers" is no name of an image',
  );
  const root = { bind_mounts: [{ host_path: "/", container_path: "/host" }] };
  expect(await why(launchOf("true", inImage(testImage, root)))).toMatch(
    /^bind_mounts names \/, which agent rack does not allow: .*TRAINYARD_AGENT_CONTAINER_HOST_PATHS/,
  );
  const unknown = { environment: { image: testImage, add_capabilities: ["NO_SUCH"] } };
  expect(await why(launchOf("true", inImage(testImage, unknown)))).toMatch(
    /engine refused: .*cap/i,
  );
  const host = newFolder();
  const twice = [1, 2].map(() => ({ host_path: host, container_path: "/a" }));
  expect(await why(launchOf("true", inImage(testImage, { bind_mounts: twice })))).toMatch(
    /engine refused: .*duplicate/i,
  );
  const environmentVariables = [`A=${"a".repeat(2 ** 17)}`];
  expect(await why(launchOf("true", { ...inImage(), environmentVariables }))).toContain(
    "its environment variable A is longer than 128 KiB",
  );
  const empty = join(newFolder(), "empty");
  writeFileSync(empty, Buffer.alloc(1024));
  podman.run("import", empty, "localhost/empty:1");
  expect(await why(launchOf("true", inImage("localhost/empty:1")))).toContain("has no sh");
  expect(podman.containers()).toEqual([]);
});

test("a configuration that this host cannot provide fails with that reason, so that the run is tried on another agent", async () => {
  const { ended } = bound(await started({ TRAINYARD_AGENT_CONTAINER_HOST_PATHS: "/no" }));
  const mounts = { bind_mounts: [{ host_path: "/no/such", container_path: "/a" }] };
  expect(await ended(launchOf("true", inImage(testImage, mounts)))).toMatchObject({
    launchFailed: true,
    lacking: true,
    exit: { message: "bind_mounts names /no/such, which does not exist on agent rack" },
  });
});

test("a run that removes the record of its start has failed, and its launch has not", async () => {
  const { ended } = bound(await started());
  const denial = "rm $TRAINYARD_RUN_DIR/../pipes/started && exit 3";
  const said = await ended(launchOf(`echo trained; ${denial}`, inImage()));
  expect(said).toMatchObject({ launchFailed: false, exit: { code: 3 } });
  // A process without output leaves the agent no other evidence: the failure is the run's.
  const silent = await ended(launchOf(denial, inImage()));
  expect(silent).toMatchObject({ launchFailed: false, exit: { code: 126 } });
});

test("a kill ends all processes of a container, even those that tried to escape", async () => {
  const { platform } = await started();
  const marker = newMarker();
  const launch = launchOf(
    `trap '' TERM; for n in 1 2 3; do setsid setsid sh -c 'trap "" TERM; exec sleep ${marker}' & done
     (setsid sh -c 'while :; do sh -c "sleep 0.01; : ${marker}" & sleep 0.01; done' &) ; echo up; wait; sleep 1000`,
    inImage(),
  );
  platform.run(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  await vi.waitFor(() => expect(withText(marker)).toBeGreaterThan(3), patient);
  platform.kill(launch);
  const ended = await platform.ended(launch);
  expect(ended).toMatchObject({ killed: true, exit: { signal: "SIGKILL" } });
  expect(withText(marker)).toBe(0);
  expect(podman.containers()).toEqual([]);
});

test("at a shutdown each process of a container gets SIGTERM once", async () => {
  const { platform, shutDownRuns, pathOf } = bound(await started());
  const script = `
import os, signal, time
# One write a line: unbuffered prints write the end of the line apart, and the shell writes to the same pipe.
signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"told\\n"))
os.write(1, b"up\\n")
while True: time.sleep(0.1)
`;
  const contextDigest = platform.addContext(await packed({ "train.py": script }));
  // The container ends with its shell, which waits until the other process has printed its line.
  const entrypoint = "trap 'echo told the shell' TERM; python3 -S train.py & wait; sleep 2";
  const launch = launchOf(entrypoint, { ...inImage(), contextDigest });
  platform.run(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  await shutDownRuns();
  expect(platform.texts(launch).toSorted()).toEqual(["told", "told the shell", "up"]);
  expect(runAt(pathOf(launch))?.kill?.why).toBe("shutdown");
  expect(podman.containers()).toEqual([]);
});

test("a container that is asked to stop gets SIGTERM at once, and ends when its script has ended", async () => {
  const { platform } = bound(await started());
  const script = `
import os, signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
os.write(1, b"up\\n")
signal.sigwait([signal.SIGTERM])
time.sleep(1)
os.write(1, b"saved\\n")
`;
  const contextDigest = platform.addContext(await packed({ "train.py": script }));
  const launch = launchOf("python3 -S train.py", { ...inImage(), contextDigest });
  platform.run(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  platform.stop(launch);
  const asked = await platform.ended(launch);
  expect(asked).toMatchObject({ terminated: true, killed: false, exit: { signal: "SIGTERM" } });
  expect(platform.texts(launch)).toEqual(["up", "saved"]);
  expect(podman.containers()).toEqual([]);
});

test("a run that exceeds its memory is reported with that reason, even when only a worker was killed", async () => {
  const { platform, ended } = bound(await started({ TRAINYARD_AGENT_MEMORY: "32M" }));
  const eat = "python3 -S -c 'x = bytearray(200 * 1024 * 1024)'";
  const worker = launchOf(`${eat}; sleep 1; echo "the worker is gone" >&2; exit 5`, inImage());
  expect((await ended(worker)).exit).toMatchObject({
    code: 5,
    message: expect.stringMatching(
      /^exited with code 5: its container reached its memory limit of 64 MiB, and a process was killed: the worker is gone/,
    ),
  });
  expect(platform.texts(worker)).toContain("the worker is gone");
  const whole = launchOf(`exec ${eat}`, inImage());
  expect((await ended(whole)).exit).toMatchObject({
    signal: "SIGKILL",
    message: expect.stringMatching(
      /often because the host ran out of memory|reached its memory limit/,
    ),
  });
});

test("the SDK and the checkpoints of a container are at the paths that a process has", async () => {
  const checkpoints = join(newFolder(), "not", "there", "yet");
  const sdk = join(import.meta.dirname, "../../../libs/sdk-python/src");
  const { platform, ended } = bound(
    await started({
      TRAINYARD_CHECKPOINT_DIR: checkpoints,
      TRAINYARD_SDK_PATH: sdk,
      TRAINYARD_AGENT_CONTAINER_API_URL: "http://10.0.0.1:8080",
    }),
  );
  const launch = launchOf(
    `python3 -c 'import trainyard; print(trainyard.__file__)'; echo $TRAINYARD_URL
     echo kept > $TRAINYARD_CHECKPOINT_ROOT/a; touch ${sdk}/x 2>/dev/null || echo refused`,
    inImage(),
  );
  expect((await ended(launch)).exit?.code).toBe(0);
  expect(platform.texts(launch)).toEqual([
    join(sdk, "trainyard/__init__.py"),
    "http://10.0.0.1:8080",
    "refused",
  ]);
  expect(readFileSync(join(checkpoints, "a"), "utf8")).toBe("kept\n");
  expect(existsSync(join(sdk, "x"))).toBe(false);
});

function bound(of: ContainerWorld) {
  const { platform } = of;
  return {
    platform,
    ended: of.ended.bind(of),
    pathOf: of.pathOf.bind(of),
    shutDownRuns: of.shutDownRuns.bind(of),
  };
}

test("a port inside a container with a network of its own is reached through the tunnel of its run", async () => {
  await using door = await startTunnelDoor();
  const variables = { TRAINYARD_AGENT_CONTAINER_NETWORK: "none", TRAINYARD_API_URL: door.url };
  const { platform } = bound(await started(variables));
  const program = `import socket
s = socket.create_server(("127.0.0.1", 8080))
while True:
    c, _ = s.accept()
    c.sendall(c.recv(100).upper())
    c.close()`;
  const ports = { proxyPorts: [8080, 8081].map((port) => ({ port, isTcp: true })) };
  platform.run(launchOf(["python3", "-c", program], { ...inImage(), ...ports }));
  await expect.poll(() => door.dials.length, patient).toBe(1);
  const tunnel = door.dials[0]?.tunnel;
  const answer = async (): Promise<string> => {
    const stream = await tunnel?.open("port-8080");
    stream?.end("inside");
    let text = "";
    for await (const chunk of stream ?? []) text += String(chunk);
    return text;
  };
  await expect.poll(() => answer().catch(String), patient).toBe("INSIDE");
  await expect(tunnel?.open("port-8081")).rejects.toMatchObject({ code: "nothing_listens" });
});

test("a task in a container has its holder there: its terminals, its programs, and its stop with what it leaves", async () => {
  const there = await started();
  const { platform } = there;
  const published = { ...inImage(), proxyPorts: [{ port: 8080, isTcp: false }] };
  const script =
    "trap 'echo saved; exit 4' TERM; (trap 'sleep 0.3; echo also; exit' TERM; while true; do sleep 0.05; done) & echo up; while true; do sleep 0.05; done";
  const launch = taskOf("command", script, published);
  platform.run(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  const runDir = join(there.pathOf(launch), "run");
  const hello = { open: "exec", command: ["sh", "-c", "echo $TRAINYARD_TASK_ID; exit 5"] } as const;
  using program = await HolderClient.open(runDir, hello);
  expect(await program.ended()).toEqual({ type: "ended", code: 5 });
  expect(program.text()).toBe(`${launch.task?.id}\n`);
  const terminal = { open: "terminal", name: "main", columns: 90, rows: 20 } as const;
  using viewer = await HolderClient.open(runDir, terminal);
  viewer.type("cat /proc/1/comm; exit\n");
  expect(await viewer.ended()).toEqual({ type: "ended", code: 0 });
  platform.stop(launch);
  const { exit, terminated } = await platform.ended(launch);
  expect({ code: exit?.code, terminated }).toEqual({ code: 4, terminated: true });
  expect(platform.texts(launch).slice(2)).toEqual(["saved", "also"]);
});

test("a notebook in a container has its page in its tunnel, and comes back in another with the files that it had", async ({
  skip,
}) => {
  world = await ContainerWorld.open(podman.socket);
  const { platform } = world;
  await using door = await startTunnelDoor(() => platform.url);
  await startNotebookAgent(world, door.url, skip);
  const launch = notebookInContainer();
  platform.run(launch);
  await platform.up(launch);
  const asked = (secret: string) => pageThrough(door.dials.at(-1)?.tunnel, secret);
  const page = { status: 200, body: expect.stringContaining("<title>JupyterLab") as string };
  expect(await asked(launch.task?.secret ?? "")).toMatchObject(page);
  expect((await asked("")).status).toBe(403);
  await printed(world.pathOf(launch), writing);
  platform.stop(launch);
  expect((await platform.ended(launch)).unsaved).toBeUndefined();
  const [saved = ""] = [...platform.checkpoints.keys()].slice(-1);
  const { uid } = lstatSync(join(platform.checkpointRoot, saved, "work.json"));
  expect(uid).toBe(process.getuid?.());
  const next = nextRun(launch, saved);
  platform.run(next);
  await platform.up(next);
  expect(await asked(next.task?.secret ?? "")).toMatchObject(page);
  expect(await printed(world.pathOf(next), reading)).toBe(`640 ${uid}\nmine\n9000000\n`);
}, 180_000);
