import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Gate } from "../lib/gate.ts";
import { repositoryFiles } from "../lib/repository-files.ts";
import { root } from "../lib/root.ts";
import { runTool } from "../lib/run-tool.ts";

/**
 * Every project compiles, and every TypeScript file belongs to a project: the compiler never checks a file that no
 * project lists.
 */
export const types: Gate = {
  name: "types",
  run: async (files) => {
    const projects = files.filter((file) => /(^|\/)tsconfig\.json$/.test(file));
    const { code, output } = await runTool("tsc", ["-b", ...projects]);
    const checked = new Set(projects.flatMap((project) => filesOf(join(root, project))));
    const sources = repositoryFiles().filter((file) => /\.tsx?$/.test(file));
    const unchecked = sources.filter((file) => !checked.has(file));
    const left = unchecked.map(
      (file) => `${file} belongs to no project: no tsconfig.json lists it`,
    );
    return {
      ok: code === 0 && left.length === 0,
      seen: sources.length - unchecked.length,
      output: [output, ...left, ""].join("\n"),
    };
  },
};

type BuildInfo = { readonly fileNames?: readonly string[] };

/** The source files of a project, from the build info that the compiler writes beside its outputs. */
function filesOf(project: string): readonly string[] {
  const { compilerOptions } = JSON.parse(readFileSync(project, "utf8")) as {
    readonly compilerOptions?: { readonly tsBuildInfoFile?: string };
  };
  const notes = compilerOptions?.tsBuildInfoFile;
  if (notes === undefined) throw new Error(`${project} names no tsBuildInfoFile`);
  const path = join(dirname(project), notes);
  const { fileNames = [] } = JSON.parse(readFileSync(path, "utf8")) as BuildInfo;
  return fileNames.map((name) => relative(root, join(dirname(path), name)));
}
