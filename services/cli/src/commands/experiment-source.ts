/** The commands that reproduce an experiment: download its submission as a folder, and compare two experiments. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plain } from "@trainyard/contracts";
import {
  DiffExperimentsResponseSchema,
  type FileDifference,
  type Submission,
  SubmissionSchema,
} from "@trainyard/contracts/api";
import { codecOf } from "@trainyard/contracts/codec";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { addFileCommand } from "./experiment-files.ts";
import { writeFolder } from "../new-folder.ts";
import { unpackInto } from "../unpack-into.ts";
import { printable, printableLines } from "../output.ts";
import { downloaded } from "../submission.ts";

export function addSourceCommands(group: Command): void {
  group
    .command("download")
    .argument("<experiment>")
    .argument("[folder]", "by default experiment-<number>")
    .description("its configuration, code, seed and origin; experiment create takes the folder")
    .action(withPlatform(download));
  addFileCommand(group);
  group
    .command("diff")
    .argument("<experiment>")
    .argument("<other>")
    .option("--text", "the configurations as texts too, and the texts of files")
    .description("how the configuration and the code of another experiment differ from its own")
    .action(withPlatform<DiffOptions>(diff));
}

async function download({ client, output }: Context, args: readonly string[]): Promise<void> {
  const experiment = argument(args, 0);
  const shown = args[1] ?? `experiment-${experiment}`;
  const submission = await client.call("getSubmission", { experiment });
  const { record, masked } = submission;
  await writeFolder(shown, async (folder) => {
    const write = (name: string, text: string) => writeFile(join(folder, name), text);
    await write(downloaded.config, submission.config);
    const facts = codecOf(SubmissionSchema).toFullJson(submission);
    await write(downloaded.facts, `${JSON.stringify(facts, null, 2)}\n`);
    if (record !== undefined) await write(downloaded.submitted, record.configText);
    const changes = record?.repository?.diff ?? "";
    if (changes !== "") await write(downloaded.diff, changes);
    const packages = requirementsOf(submission);
    if (packages !== "") await write(downloaded.packages, packages);
    const code = join(folder, downloaded.code);
    if (submission.codeDigest === "") await mkdir(code);
    else await unpackInto(code, await client.download("downloadExperimentCode", { experiment }));
  });
  output.note(`experiment ${experiment} is in ${shown}: yard experiment create ${shown}`);
  if (masked.length > 0) output.note(`masked values: ${masked.map(printable).join(", ")}`);
}

/** Returns the packages of the first run in pip's format, without those whose name or version pip cannot read. */
function requirementsOf({ environments }: Plain<Submission>): string {
  return Object.entries(environments[0]?.packages ?? {})
    .filter((entry) => entry.every((text) => /^[A-Za-z0-9._+!-]+$/.test(text)))
    .map(([name, version]) => `${name}==${version}\n`)
    .join("");
}

type DiffOptions = { readonly text?: boolean };

async function diff(
  { client, output }: Context,
  args: readonly string[],
  { text = false }: DiffOptions,
): Promise<void> {
  const request = { experiment: argument(args, 0), other: argument(args, 1) };
  const found = await client.call("diffExperiments", request);
  if (output.json) {
    output.message(DiffExperimentsResponseSchema, found);
    return;
  }
  for (const { path, before, after } of found.config) {
    output.line(printable(`${path}: ${before ?? "(absent)"} → ${after ?? "(absent)"}`));
  }
  for (const file of found.files) output.line(fileLine(file));
  if (text) {
    for (const one of [found.configText, ...found.files.map((file) => file.text)]) {
      if (one !== "") output.line(printableLines(one.replace(/\n$/, "")));
    }
  }
  if (found.leftOut !== "") output.note(found.leftOut);
  if (found.config.length + found.files.length === 0 && found.configText === "") {
    output.note("no difference");
  }
}

function fileLine({ path, change, bytesBefore, bytesAfter }: Plain<FileDifference>): string {
  const sizes = [bytesBefore, bytesAfter].filter((bytes) => bytes !== undefined);
  return `${change} ${printable(path)} (${sizes.join(" → ")} bytes)`;
}
