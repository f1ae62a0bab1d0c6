/** Builds the npm packages of a release: one tarball each, whose bytes depend on the commit alone. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { copyFile, cp } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { create } from "tar";
import { parse } from "yaml";
import { root } from "../root.ts";
import { compiled, withCompiledNames } from "./compile.ts";

type Names = Readonly<Record<string, string>>;

export type Manifest = {
  readonly name: string;
  /** Absent for modules that act when they are imported. */
  readonly sideEffects?: false;
  readonly engines?: { readonly node: string };
  readonly exports?: Names;
  readonly dependencies?: Names;
};

export type Package = { readonly folder: string; readonly manifest: Manifest };

/** Tests and their servers are not published. */
const isTest = (path: string): boolean =>
  /\.test\.tsx?$|(^|\/)(testing|fixtures|contract)(\/|\.ts$)/.test(path);
const unpublished = new Set(["@trainyard/testing", "@trainyard/web"]);

/** Every lib and service, the programs of an installation, and the embedded cluster, which the command line starts. */
export function packagesToPublish(files: readonly string[]): readonly Package[] {
  return files
    .filter((file) =>
      /^(libs\/[^/]+|services\/[^/]+|deploy\/(local|install))\/package\.json$/.test(file),
    )
    .map((file) => packageIn(dirname(file)))
    .filter(({ manifest }) => !unpublished.has(manifest.name));
}

export function packageIn(folder: string): Package {
  const text = readFileSync(join(root, folder, "package.json"), "utf8");
  return { folder, manifest: JSON.parse(text) as Manifest };
}

/** The versions of third-party packages that the workspace pins. */
export function catalog(): Names {
  const workspace = parse(readFileSync(join(root, "pnpm-workspace.yaml"), "utf8")) as {
    readonly catalog: Names;
  };
  return workspace.catalog;
}

/**
 * Builds the published package.json: real versions instead of `workspace:` and `catalog:`, without exports for tests.
 */
export function publishedManifest(
  { folder, manifest }: Package,
  version: string,
  pinned: Names,
): object {
  const isLib = folder.startsWith("libs/");
  const exported = Object.entries(manifest.exports ?? {}).filter(([, path]) => !isTest(path));
  const bin = programOf(folder);
  return {
    name: manifest.name,
    version,
    license: "Apache-2.0",
    type: "module",
    engines: manifest.engines ?? { node: ">=24" },
    ...(manifest.sideEffects === undefined ? {} : { sideEffects: manifest.sideEffects }),
    exports: {
      ...Object.fromEntries(exported.map(([name, path]) => [name, exportOf(path, isLib)])),
      "./package.json": "./package.json",
    },
    ...(bin === null ? {} : { bin }),
    dependencies: Object.fromEntries(
      Object.entries(manifest.dependencies ?? {}).map(([name, wanted]) => [
        name,
        wanted.startsWith("workspace:") ? version : versionOf(name, pinned),
      ]),
    ),
  };
}

const exportOf = (path: string, isLib: boolean): object | string => {
  const script = path.replace(/\.ts$/, ".js");
  return isLib ? { types: path.replace(/\.ts$/, ".d.ts"), default: script } : script;
};

function versionOf(name: string, pinned: Names): string {
  const version = pinned[name];
  if (version === undefined)
    throw new Error(`${name} is missing in the catalog of pnpm-workspace.yaml`);
  return version;
}

/** The package's program: `yard` of the command line, `trainyard-gateway` of a service. */
function programOf(folder: string): Names | null {
  if (!existsSync(join(root, folder, "src", "main.ts"))) return null;
  const name = folder.replace(/^(services|libs|deploy)\//, "");
  return { [name === "cli" ? "yard" : `trainyard-${name}`]: "./src/main.js" };
}

/** Writes the package below `stage` and its tarball into `out`. Returns the tarball's name. */
export async function pack(
  one: Package,
  { version, pinned, stage, out }: PackOptions,
): Promise<string> {
  const folder = join(stage, one.folder);
  await writePackage(one, folder, { version, pinned, declares: one.folder.startsWith("libs/") });
  await copyFile(join(root, "LICENSE"), join(folder, "LICENSE"));
  const name = `${one.manifest.name.replace(/^@/, "").replace("/", "-")}-${version}.tgz`;
  await makeTarball(folder, join(out, name));
  return name;
}

/** Writes the compiled package: its package.json and its files, with declarations of types if it `declares` them. */
export async function writePackage(
  one: Package,
  folder: string,
  { version, pinned, declares }: Versions & { readonly declares: boolean },
): Promise<void> {
  for (const file of filesOf(join(root, one.folder))) {
    const source = join(root, one.folder, file);
    const target = join(folder, file);
    mkdirSync(dirname(target), { recursive: true });
    if (!source.endsWith(".ts")) await cp(source, target);
    else compile(source, target, one.folder);
    if (source.endsWith(".ts") && declares) declare(source, target);
  }
  const manifest = publishedManifest(one, version, pinned);
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

type Versions = { readonly version: string; readonly pinned: Names };

export type PackOptions = Versions & {
  /** The folder in which the release assembles packages. */
  readonly stage: string;
  readonly out: string;
};

/** The package's committed files: README, migrations and sources, without tests. */
function filesOf(folder: string): readonly string[] {
  const folders = ["migrations", "src"].filter((name) => existsSync(join(folder, name)));
  const readme = existsSync(join(folder, "README.md")) ? ["README.md"] : [];
  return [...readme, ...folders.flatMap((name) => filesBelow(join(folder, name), folder))]
    .filter((file) => !isTest(file) && !file.endsWith("tsconfig.json"))
    .sort();
}

/** The paths, relative to `base`, of all files below a folder. */
function filesBelow(folder: string, base: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(base, join(entry.parentPath, entry.name)));
}

function compile(source: string, target: string, folder: string): void {
  const script = target.replace(/\.ts$/, ".js");
  const text = compiled(readFileSync(source, "utf8"));
  const isProgram = source === join(root, folder, "src", "main.ts");
  writeFileSync(script, isProgram ? `#!/usr/bin/env node\n${text}` : text, {
    mode: isProgram ? 0o755 : 0o644,
  });
}

function declare(source: string, target: string): void {
  const declared = join(root, ".cache", "types", relative(root, source).replace("/src/", "/"));
  const declarations = declared.replace(/\.ts$/, ".d.ts");
  writeFileSync(
    target.replace(/\.ts$/, ".d.ts"),
    withCompiledNames(readFileSync(declarations, "utf8")),
  );
}

/** Makes a reproducible tarball: sorted names, no times, no owners. */
async function makeTarball(folder: string, file: string): Promise<void> {
  const names = filesBelow(folder, folder).toSorted();
  await create(
    {
      file,
      cwd: folder,
      gzip: { level: 9 },
      portable: true,
      mtime: new Date(0),
      prefix: "package",
    },
    names,
  );
}
