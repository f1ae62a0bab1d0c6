/** The images of deploy/images/Containerfile: their contents, and each of them as a container. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  globSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNats } from "@trainyard/bus/testing";
import { services } from "@trainyard/kernel/services";
import { freePort, startTestPostgres, type TestPostgres } from "@trainyard/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../../scripts/lib/root.ts";
import { targets } from "../../scripts/lib/images/targets.ts";
import { eventually } from "../world/eventually.ts";
import { notRun } from "../world/torch.ts";
import { build, imageOf, imagesProblem, startPodmanBeside } from "./built.ts";
import { built, out, podman } from "./images.ts";

const problem = imagesProblem();
const names = targets.map(({ name }) => name);
const home = "opt/trainyard";
/** The options of a container with the rights of a pod of the profile "restricted". */
const restricted = ["--network=host", "--read-only", "--cap-drop=all", "--user=10001"];

const stack = new AsyncDisposableStack();
/** A test that is skipped where no image can be built. */
const it = test.extend("programs", { auto: true }, ({ skip }) => {
  if (problem !== null) notRun(skip, problem);
});
afterAll(() => stack.disposeAsync());

type Facts = {
  readonly Labels: Readonly<Record<string, string>>;
  readonly Config: {
    readonly User: string;
    readonly Entrypoint: readonly string[];
    readonly Env: readonly string[];
    readonly Volumes: Readonly<Record<string, object>>;
    readonly StopSignal?: string;
  };
};

function factsOf(target: string): Facts {
  const [facts] = JSON.parse(podman.run("image", "inspect", imageOf(target))) as readonly Facts[];
  if (facts === undefined) throw new Error(`there is no image of ${target}`);
  return facts;
}

/** Calls `look` with the folder of the image's files. */
function withFiles<T>(target: string, look: (folder: string) => T): T {
  const folder = podman.run("image", "mount", imageOf(target)).trim();
  try {
    return look(folder);
  } finally {
    podman.run("image", "unmount", imageOf(target));
  }
}

type Component = {
  readonly name: string;
  readonly group?: string;
  readonly version: string;
  readonly purl?: string;
  readonly "bom-ref": string;
};
type Bill = {
  readonly components: readonly Component[];
  readonly metadata: { readonly component: Component };
};

const billOf = (text: string): Bill => JSON.parse(text) as Bill;

describe("an image", () => {
  it("exists for each service, for migrate and for agents", () => {
    expect(built.map(({ name }) => name)).toEqual(names.map(imageOf));
  });

  it.each(names)(
    "of %s runs without root, writes only where it says, and is labelled",
    (target) => {
      const { Config, Labels } = factsOf(target);
      expect(Config.User).toBe("10001:10001");
      const state = target === "agent" ? ["/var/lib/trainyard"] : [];
      expect(Object.keys(Config.Volumes).toSorted()).toEqual(["/tmp", ...state]);
      const label = (key: string) => Labels[`org.opencontainers.image.${key}`];
      expect(label("title")).toBe(`Trainyard ${target}`);
      expect(label("version")).toBe("0.1.0");
      expect(label("licenses")).toBe("Apache-2.0");
      expect(label("revision")).toMatch(/^[0-9a-f]{40}(-dirty)?$/);
      expect(Date.parse(label("created") ?? "")).toBeGreaterThan(0);
      // No variable of the machine that built it.
      const named = Config.Env.map((text) => text.split("=")[0]);
      expect(
        named.filter((name) => !/^(PATH|HOME|USER|NODE_\w+|TRAINYARD_\w+)$/.test(name ?? "")),
      ).toEqual([]);
    },
  );

  it.each(names)("of %s has its program, and no file that another user may change", (target) => {
    withFiles(target, (folder) => {
      for (const path of factsOf(target).Config.Entrypoint.filter((one) => one.startsWith("/"))) {
        expect(existsSync(join(folder, path))).toBe(true);
      }
      const open = execFileSync("find", [join(folder, home), "-perm", "/022", "!", "-type", "l"], {
        encoding: "utf8",
      });
      expect(open).toBe("");
    });
  });

  it.each(names.filter((name) => name !== "agent"))(
    "of %s has one program, Node, and neither a shell nor a compiler nor npm",
    (target) => {
      withFiles(target, (folder) => {
        const found = execFileSync(
          "find",
          [folder, "-type", "f", "-perm", "/111", "-printf", "%P\n"],
          {
            encoding: "utf8",
          },
        );
        const programs = found.trim().split("\n");
        expect(programs.filter((path) => !/\.so(\.[\d.]+)?$/.test(path))).toEqual([
          `${home}/bin/node`,
        ]);
        const scripts = globSync("**/*.{sh,c,cc,ts,py}", { cwd: join(folder, home) });
        // `try` submits a script.
        expect(scripts).toEqual(
          target === "migrate" ? ["deploy/install/src/try/code/train.py"] : [],
        );
      });
    },
  );

  it.each(names)("of %s has the packages of its bill of materials, and no others", (target) => {
    const { bill, found } = withFiles(target, (folder) => ({
      bill: readFileSync(join(folder, home, "sbom.cdx.json"), "utf8"),
      found: packagesIn(join(folder, home)),
    }));
    expect(readFileSync(join(out, `${target}.cdx.json`), "utf8")).toBe(bill);
    const { components, metadata } = billOf(bill);
    expect(metadata.component).toMatchObject({ name: target, version: "0.1.0" });
    const npm = components.filter(
      (one) => !one["bom-ref"].startsWith("node@") && one.purl?.startsWith("pkg:npm"),
    );
    const listed = npm.map(({ group, name, version }) =>
      group === undefined ? `${name}@${version}` : `${group}/${name}@${version}`,
    );
    const own = components.filter(({ purl }) => purl === undefined).map(({ name }) => name);
    const isOwn = (name: string): boolean => name.startsWith("@trainyard/");
    expect(listed.toSorted()).toEqual(found.filter((name) => !isOwn(name)));
    const pages = target === "gateway" ? ["@trainyard/web"] : [];
    expect(own.toSorted()).toEqual(
      [...found.filter(isOwn).map((name) => name.replace(/@[\d.]+$/, "")), ...pages].toSorted(),
    );
  });

  it("has only the packages of its own program", () => {
    const names = (target: string): readonly string[] =>
      withFiles(target, (folder) => packagesIn(join(folder, home)));
    const has = (target: string, name: string): boolean =>
      names(target).some((one) => one.startsWith(`${name}@`));
    expect(has("gateway", "fastify")).toBe(true);
    expect(has("registry", "@aws-sdk/client-s3")).toBe(true);
    expect(has("agent", "dockerode")).toBe(true);
    for (const name of ["fastify", "@aws-sdk/client-s3", "dockerode", "ioredis", "vitest"]) {
      expect(has("relay", name)).toBe(false);
    }
    expect(has("gateway", "vite")).toBe(false);
  });

  it("has the same digest when it is built elsewhere", async () => {
    const folder = mkdtempSync(join(tmpdir(), "trainyard-bases-"));
    try {
      await using other = await startPodmanBeside(podman, folder);
      const again = await build(other, join(folder, "bills"), "gateway", "agent");
      expect(again).toEqual(
        built.filter(({ name }) => [imageOf("gateway"), imageOf("agent")].includes(name)),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** The name and version of each package below the folder. */
function packagesIn(folder: string): readonly string[] {
  const manifests = [
    ...globSync("{libs,services,deploy}/*/package.json", { cwd: folder }),
    ...globSync("node_modules/.pnpm/*/node_modules/{*,@*/*}/package.json", { cwd: folder }).filter(
      (path) => !lstatSync(join(folder, path, "..")).isSymbolicLink(),
    ),
  ];
  const found = manifests.map((path) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, path), "utf8")) as Component;
    return `${name}@${version}`;
  });
  return [...new Set(found)].toSorted();
}

describe("containers of the images", () => {
  const database = "trainyard";
  let postgres: TestPostgres;
  let natsUrl: string;

  beforeAll(async () => {
    if (problem !== null) return;
    postgres = stack.use(await startTestPostgres());
    natsUrl = stack.use(await startNats()).url;
    const url = postgres.url({ database });
    run("--rm", `--env=TRAINYARD_POSTGRES_ADMIN_URL=${url}`, imageOf("migrate"));
  });

  const run = (...argv: readonly string[]): string => podman.run("run", ...restricted, ...argv);

  function environmentOf(service: string): Readonly<Record<string, string>> {
    const user = `ty_${service.replaceAll("-", "_")}`;
    return {
      TRAINYARD_POSTGRES_URL: postgres.url({ user, database }),
      TRAINYARD_NATS_URL: natsUrl,
      TRAINYARD_HTTP_HOST: "127.0.0.1",
      TRAINYARD_GRPC_PORT: "0",
      TRAINYARD_RUN_TOKEN_KEY: "5e".repeat(32),
      TRAINYARD_BLOB_DIR: "/tmp/blobs",
      TRAINYARD_CHECKPOINT_DIR: "/tmp/checkpoints",
    };
  }

  async function started(target: string, more: Readonly<Record<string, string>>) {
    const port = await freePort();
    const all = { ...more, TRAINYARD_HTTP_PORT: String(port) };
    const env = Object.entries(all).map(([name, value]) => `--env=${name}=${value}`);
    run("--detach", `--name=${target}`, ...env, imageOf(target));
    const answers = async (path: string): Promise<boolean> =>
      (await fetch(`http://127.0.0.1:${port}${path}`)).ok;
    return {
      answers,
      /** Stops it as Kubernetes does, and returns its exit code. */
      stop: (): number => {
        podman.run("stop", "--time=60", target);
        return Number(podman.run("inspect", "--format={{.State.ExitCode}}", target));
      },
      said: (): string => podman.run("logs", target),
      port,
    };
  }

  it("start every service on PostgreSQL and NATS, read-only and without capabilities, and drain it", async () => {
    const running = new Map<string, Awaited<ReturnType<typeof started>>>();
    for (const { name } of services) running.set(name, await started(name, environmentOf(name)));
    for (const [name, one] of running) {
      await eventually(`${name} answers /livez`, () => one.answers("/livez"));
      await eventually(`${name} is ready`, () => one.answers("/readyz"));
    }
    const gateway = running.get("gateway");
    const page = await fetch(`http://127.0.0.1:${gateway?.port}/`);
    expect(await page.text()).toContain("<div id=");
    for (const [name, one] of running)
      expect({ name, code: one.stop() }).toEqual({ name, code: 0 });
  });

  it("migrate a database, and name the programs of an installation", () => {
    const url = postgres.url({ database });
    const said = run("--rm", `--env=TRAINYARD_POSTGRES_ADMIN_URL=${url}`, imageOf("migrate"));
    expect(said).toMatch(/^database trainyard is up to date/);
    expect(run("--rm", imageOf("migrate"), "nats-users")).toContain('user: "experiments"');
  });

  it("start an agent that holds runs, imports the package trainyard, and keeps no zombies", async () => {
    const agent = await started("agent", {
      TRAINYARD_NATS_URL: natsUrl,
      TRAINYARD_API_URL: "http://127.0.0.1:1",
      TRAINYARD_METRICS_URL: "http://127.0.0.1:1",
      TRAINYARD_HTTP_HOST: "127.0.0.1",
      TRAINYARD_AGENT_NAME: "a",
    });
    await eventually("the agent answers /livez", () => agent.answers("/livez"), 60_000);
    const inside = (...argv: readonly string[]): string => podman.run("exec", "agent", ...argv);
    expect(inside("sh", "-c", "ls -d /var/lib/trainyard/runs; id -u").trim()).toBe(
      "/var/lib/trainyard/runs\n10001",
    );
    const script = "import trainyard; print(trainyard.__file__)";
    const imported = inside("env", "PYTHONPATH=/opt/trainyard/python", "python3", "-c", script);
    expect(imported.trim()).toBe("/opt/trainyard/python/trainyard/__init__.py");
    inside("sh", "-c", "(sleep 0.1 &)");
    await eventually("the process that lost its parent is gone", () =>
      Promise.resolve(!/sleep/.test(inside("ps", "-A", "-o", "comm="))),
    );
    expect(agent.stop()).toBe(0);
  });
});

describe("the command", () => {
  const refused = (...argv: readonly string[]): string => {
    try {
      execFileSync(process.execPath, [join(root, "scripts/tasks/images.ts"), ...argv], {
        env: { ...podman.forBuilds, NODE_NO_WARNINGS: "1" },
        stdio: "pipe",
      });
    } catch (error) {
      return String((error as { readonly stderr: Buffer }).stderr);
    }
    throw new Error("it was accepted");
  };

  it("refuses an image, a tag and a base that do not exist with one line each", () => {
    expect(refused("relai")).toMatch(/^images: there is no image "relai", only relay, .*\n$/);
    expect(refused("--tag", "a/b")).toMatch(/^images: "a\/b" is no tag: .*\n$/);
    const base = refused("--base", "localhost/absent:1", "relay");
    expect(base).toMatch(/^images: buildah: .*absent.*\n$/);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith("trainyard-images-"))).toEqual(
      [],
    );
  });
});
