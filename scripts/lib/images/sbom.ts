/**
 * The bill of materials of an image in CycloneDX: Node, the packages of npm and of the workspace, those that the pages
 * are built of, and the Python package. What the base brings is the base's own bill.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { Enums, Models, SPDX, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { packageIn } from "../release/packages.ts";
import { pythonVersion } from "../release/notes.ts";
import { root } from "../root.ts";
import type { Closure, LockedPackage, LockFile } from "./lock-file.ts";
import type { Target } from "./targets.ts";

export type Commit = {
  readonly version: string;
  /** The commit's hash, with -dirty if files differ from it. */
  readonly revision: string;
  /** The commit's time, in seconds since 1970. */
  readonly committedAtS: number;
};

const spec = Spec.Spec1dot6;

/** Returns the document; its bytes depend on the commit alone. */
export function billOf(
  target: Target,
  { lock, closure, pages }: { lock: LockFile; closure: Closure; pages: Closure | null },
  { version, revision, committedAtS }: Commit,
): string {
  const image = new Models.Component(Enums.ComponentType.Container, target.name, {
    bomRef: `image:${target.name}`,
    version,
    licenses: licensesOf("Apache-2.0"),
    properties: new Models.PropertyRepository([
      new Models.Property("org.opencontainers.image.revision", revision),
    ]),
  });
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ component: image, timestamp: new Date(committedAtS * 1000) }),
  });
  const node = nodeOf(lock);
  const found = componentsOf(closure, version, "");
  for (const one of [node, ...found.values()]) bom.components.add(one);
  const parts = [node, ...target.packages.map((folder) => refOf(found, folder))];
  if (pages !== null) {
    // The build of the pages is one file of many packages, so they are parts of it.
    const { name } = packageIn("services/web").manifest;
    const all = componentsOf(pages, version, "web:");
    const built = new Models.Component(Enums.ComponentType.Application, name, {
      bomRef: "web",
      version,
      licenses: licensesOf("Apache-2.0"),
      components: new Models.ComponentRepository(all.values()),
    });
    bom.components.add(built);
    parts.push(built);
  }
  if (target.hasSdk) {
    const sdk = sdkOf(version);
    bom.components.add(sdk);
    parts.push(sdk);
  }
  for (const part of parts) image.dependencies.add(part.bomRef);
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(spec));
  return `${serializer.serialize(bom, { sortLists: true, space: 1 })}\n`;
}

/** The components of a closure by their folders. A package with several sets of peers is one component. */
function componentsOf(
  { workspace, packages }: Closure,
  version: string,
  prefix: string,
): ReadonlyMap<string, Models.Component> {
  const byName = new Map<string, Models.Component>();
  const byFolder = new Map<string, Models.Component>();
  for (const one of packages) {
    const key = `${one.name}@${one.version}`;
    const component = byName.get(key) ?? npmComponent(one, prefix);
    byName.set(key, component);
    byFolder.set(one.folder, component);
  }
  for (const folder of workspace.keys()) {
    const { name } = packageIn(folder).manifest;
    const options = {
      bomRef: `${prefix}${name}`,
      version,
      licenses: licensesOf("Apache-2.0"),
    };
    byFolder.set(folder, new Models.Component(Enums.ComponentType.Library, name, options));
  }
  const needs = [...workspace, ...packages.map((one) => [one.folder, one.needs] as const)];
  for (const [folder, needed] of needs) {
    const { dependencies } = refOf(byFolder, folder);
    for (const one of needed) dependencies.add(refOf(byFolder, one).bomRef);
  }
  return byFolder;
}

function refOf(found: ReadonlyMap<string, Models.Component>, folder: string): Models.Component {
  const component = found.get(folder);
  if (component === undefined) throw new Error(`${folder} is no part of the image`);
  return component;
}

function npmComponent(one: LockedPackage, prefix: string): Models.Component {
  const [group, name] = one.name.startsWith("@") ? one.name.split("/") : [undefined, one.name];
  const manifest = JSON.parse(readFileSync(join(root, one.folder, "package.json"), "utf8")) as {
    readonly license?: unknown;
  };
  const purl = `pkg:npm/${one.name.replace(/^@/, "%40")}@${one.version}`;
  return new Models.Component(Enums.ComponentType.Library, name ?? one.name, {
    ...(group === undefined ? {} : { group }),
    bomRef: `${prefix}${one.name}@${one.version}`,
    version: one.version,
    purl,
    licenses: licensesOf(manifest.license),
    hashes: hashesOf(one.integrity),
  });
}

function nodeOf(lock: LockFile): Models.Component {
  const name = `node-linux-${process.arch}`;
  const version = process.version.slice(1);
  return new Models.Component(Enums.ComponentType.Application, "node", {
    bomRef: `node@${version}`,
    version,
    purl: `pkg:npm/${name}@${version}`,
    licenses: licensesOf("MIT"),
    hashes: hashesOf(lock.packages[`${name}@${version}`]?.resolution.integrity ?? ""),
  });
}

function sdkOf(version: string): Models.Component {
  return new Models.Component(Enums.ComponentType.Library, "trainyard", {
    bomRef: "python:trainyard",
    version: pythonVersion(version),
    purl: `pkg:pypi/trainyard@${pythonVersion(version)}`,
    licenses: licensesOf("Apache-2.0"),
  });
}

function licensesOf(license: unknown): Models.LicenseRepository {
  if (typeof license !== "string") return new Models.LicenseRepository();
  if (SPDX.isSupportedSpdxId(license)) {
    return new Models.LicenseRepository([new Models.SpdxLicense(license)]);
  }
  const isExpression = / (OR|AND|WITH) /.test(license);
  return new Models.LicenseRepository([
    isExpression ? new Models.LicenseExpression(license) : new Models.NamedLicense(license),
  ]);
}

/** The lock file has sha512 in base64, CycloneDX in hexadecimal. */
function hashesOf(integrity: string): Models.HashDictionary {
  const [, digest] = /^sha512-(\S+)$/.exec(integrity) ?? [];
  if (digest === undefined) return new Models.HashDictionary();
  const hex = Buffer.from(digest, "base64").toString("hex");
  return new Models.HashDictionary([[Enums.HashAlgorithm["SHA-512"], hex]]);
}
