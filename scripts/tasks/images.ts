// npm run -s images -- [--base REF] [--agent-base REF] [--repository REPOSITORY] [--tag TAG] [--out FOLDER] [TARGET…]:
// builds the images of services, of migrate and of agents with buildah, and a bill of materials for each. It pushes
// nothing. The same commit on the same base gives the same bytes.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { buildImages } from "../lib/images/build.ts";
import { targets } from "../lib/images/targets.ts";
import { root } from "../lib/root.ts";

const problem = await images(process.argv.slice(2)).catch((error: unknown) =>
  error instanceof Error ? error.message : String(error),
);
if (problem !== null) {
  process.stderr.write(`images: ${problem}\n`);
  process.exitCode = 1;
}

/** Builds the images. Returns null, or the reason why they cannot be built. */
async function images(args: readonly string[]): Promise<string | null> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      base: { type: "string" },
      "agent-base": { type: "string" },
      repository: { type: "string", default: "localhost/trainyard" },
      tag: { type: "string", default: version() },
      out: { type: "string" },
    },
  });
  const unknown = positionals.find((name) => !targets.some((target) => target.name === name));
  if (unknown !== undefined) {
    return `there is no image "${unknown}", only ${targets.map(({ name }) => name).join(", ")}`;
  }
  const { repository, tag } = values;
  if (!/^[\w][\w.-]{0,127}$/.test(tag)) {
    return `"${tag}" is no tag: it has letters, digits, ".", "_" and "-"`;
  }
  const wanted = targets.filter(
    ({ name }) => positionals.length === 0 || positionals.includes(name),
  );
  const out = resolve(
    process.env["TRAINYARD_CALLER_DIR"] ?? ".",
    values.out ?? join(root, ".cache", "images"),
  );
  const bases = { base: values.base ?? null, agentBase: values["agent-base"] ?? null };
  await buildImages({ targets: wanted, ...bases, repository, tag, out }, (built) => {
    process.stdout.write(`${built.name}  ${built.id}  ${built.size}  ${built.bill}\n`);
  });
  return null;
}

function version(): string {
  const text = readFileSync(join(root, "package.json"), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
