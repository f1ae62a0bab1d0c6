/** Images of this checkout in a Podman of a test's own, on bases that are made of this host's files. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { checkout } from "@trainyard/local-cluster";
import { baseTar, imageTar } from "@trainyard/service-agent/testing/image";
import { Podman, podmanProblem, testImage } from "@trainyard/service-agent/testing/podman";
import { absent, missingPrograms } from "@trainyard/testing/needs";

export type BuiltImage = { readonly name: string; readonly id: string };

export const base = "localhost/trainyard-base:1";

/**
 * The reason why no image can be built or run here; null if it can. With TRAINYARD_REQUIRE=podman the reason is an
 * error.
 */
export function imagesProblem(): string | null {
  const hasBuildah = missingPrograms("buildah").length === 0;
  return podmanProblem() ?? (hasBuildah ? null : absent("podman", "buildah"));
}

/** Starts Podman with the bases. */
export async function startPodman(): Promise<Podman> {
  const podman = await Podman.start(await imageTar());
  podman.run("import", await baseTar(), base);
  return podman;
}

/** Starts another Podman with the same bases: an import would give them another time, and so another digest. */
export async function startPodmanBeside(other: Podman, folder: string): Promise<Podman> {
  const podman = await Podman.start(await baseTar());
  for (const [index, name] of [testImage, base].entries()) {
    const file = join(folder, `base-${index}.tar`);
    other.run("save", "--output", file, name);
    podman.run("load", "--input", file);
  }
  return podman;
}

/** Builds images, all by default, with the command of the page docs/operate/images.md. Returns its lines. */
export async function build(
  podman: Podman,
  out: string,
  ...names: readonly string[]
): Promise<readonly BuiltImage[]> {
  const script = join(checkout, "scripts", "tasks", "images.ts");
  const options = ["--base", base, "--agent-base", testImage, "--tag", "test", "--out", out];
  const argv = ["--disable-warning=ExperimentalWarning", script, ...options, ...names];
  const { stdout } = await promisify(execFile)(process.execPath, argv, { env: podman.forBuilds });
  const lines = stdout.trim().split("\n");
  return lines.map((line) => {
    const [name = "", id = ""] = line.split(/ {2,}/);
    return { name, id };
  });
}

export const imageOf = (target: string): string => `localhost/trainyard/${target}:test`;
