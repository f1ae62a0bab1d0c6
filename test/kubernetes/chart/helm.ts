/** The chart as helm renders it. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { checkout } from "@trainyard/local-cluster";
import { parseAllDocuments } from "yaml";
import type { Case } from "./cases.ts";
import type { Manifest } from "./manifests.ts";

export const chart = join(checkout, "deploy/helm/trainyard");
/** The release and its namespace. */
export const release = "ty";
export const namespace = "ml";

const call = promisify(execFile);

/** Returns what `helm template` writes. Throws helm's words. */
export async function template(given: Case, space: string = namespace): Promise<string> {
  const kinds = (given.kinds ?? []).flatMap((kind) => ["--api-versions", kind]);
  const version = given.kubernetes ?? "1.33.0";
  return helm(
    ["template", release, "--namespace", space, "--kube-version", version, ...kinds],
    given,
  );
}

export async function lint(given: Case): Promise<string> {
  return helm(["lint", "--strict"], given);
}

async function helm([command = "", ...rest]: readonly string[], { values }: Case): Promise<string> {
  const name = command === "template" ? rest.splice(0, 1) : [];
  const called = call("helm", [command, ...name, chart, "--values", "-", ...rest], {
    maxBuffer: 64 * 1_024 ** 2,
  });
  called.child.stdin?.end(JSON.stringify(values));
  try {
    return (await called).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${stdout}${stderr}`);
  }
}

export function manifestsOf(text: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw problem;
    const manifest = document.toJS() as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
}
