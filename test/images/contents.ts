/** The images of deploy/images/Containerfile: their contents. */
import { execFileSync } from "node:child_process";
import { existsSync, globSync, lstatSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { targets } from "../../scripts/lib/images/targets.ts";
import { build, imageOf, startPodmanBeside } from "./built.ts";
import { built, out, podman, test } from "./images.ts";

const names = targets.map(({ name }) => name);
const home = "opt/trainyard";

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

test("an image exists for each service, for migrate and for agents", () => {
  expect(built.map(({ name }) => name)).toEqual(names.map(imageOf));
});

test.each(names)(
  "an image of %s runs without root, writes only where it says, and is labelled",
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

test.each(names)(
  "an image of %s has its program, and no file that another user may change",
  (target) => {
    withFiles(target, (folder) => {
      for (const path of factsOf(target).Config.Entrypoint.filter((one) => one.startsWith("/"))) {
        expect(existsSync(join(folder, path))).toBe(true);
      }
      const open = execFileSync("find", [join(folder, home), "-perm", "/022", "!", "-type", "l"], {
        encoding: "utf8",
      });
      expect(open).toBe("");
    });
  },
);

test.each(names.filter((name) => name !== "agent"))(
  "an image of %s has one program, Node, and neither a shell nor a compiler nor npm",
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
      expect(scripts).toEqual(target === "migrate" ? ["deploy/install/src/try/code/train.py"] : []);
    });
  },
);

test.each(names)(
  "an image of %s has the packages of its bill of materials, and no others",
  (target) => {
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
  },
);

test("an image has only the packages of its own program", () => {
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

test("an image has the same digest when it is built elsewhere", async () => {
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
