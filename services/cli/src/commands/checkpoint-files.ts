/** The commands about the files of checkpoints: tree, comparison, verification, and the audit of storages. */
import type { Plain, ReplyOf } from "@trainyard/contracts";
import { CheckpointSchema, type FileEntry } from "@trainyard/contracts/api";
import { StorageAuditSchema, VerificationSchema } from "@trainyard/contracts/commands";
import { pause } from "@trainyard/kernel";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { cliLimits } from "../limits.ts";
import { millisecondsOf } from "../option-values.ts";
import { printable, time } from "../output.ts";
import { Failure, UsageError } from "../usage-error.ts";

export function addCheckpointFiles(group: Command): void {
  group
    .command("tree")
    .argument("<checkpoint>")
    .description("its files as a tree, with their bytes")
    .action(withPlatform(tree));
  group
    .command("diff")
    .argument("<checkpoint>")
    .argument("<other>")
    .description("the files that two checkpoints have, have not, or have otherwise")
    .action(withPlatform(diff));
  group
    .command("verify")
    .argument("<checkpoint>")
    .description("read every byte again; a damaged checkpoint is not restored from")
    .action(withPlatform(verify));
  group
    .command("audit")
    .argument("[root]", "a root of yard storage list, by default all")
    .option("--delete-unknown", "delete what the log does not know or says was deleted")
    .option("--older-than <time>", "of that, only what has not changed for 14d, say")
    .option("--reason <text>", "recorded with your name")
    .description("compare the storages with the log, both ways")
    .action(withPlatform<AuditOptions>(audit));
}

async function tree({ client, output }: Context, args: readonly string[]): Promise<void> {
  const checkpoint = await client.call("getCheckpoint", { checkpoint: argument(args, 0) });
  if (output.json) {
    output.message(CheckpointSchema, checkpoint);
    return;
  }
  for (const line of treeLines(checkpoint.manifest)) output.line(line);
}

/** Returns one line per folder, followed by its files; the input is sorted by path. */
export function treeLines(files: readonly Plain<FileEntry>[]): readonly string[] {
  const lines: string[] = [];
  let folders: readonly string[] = [];
  for (const { path, bytes } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const names = path.split("/");
    const above = names.slice(0, -1);
    const same = above.findIndex((name, at) => name !== folders[at]);
    for (let at = same < 0 ? above.length : same; at < above.length; at += 1) {
      lines.push(`${"  ".repeat(at)}${printable(above[at] ?? "")}/`);
    }
    lines.push(`${"  ".repeat(above.length)}${printable(names.at(-1) ?? "")}  ${bytes}`);
    folders = above;
  }
  return lines;
}

async function diff({ client, output }: Context, args: readonly string[]): Promise<void> {
  const [a, b] = await Promise.all(
    [0, 1].map((at) => client.call("getCheckpoint", { checkpoint: argument(args, at) })),
  );
  const files = differences(a?.manifest ?? [], b?.manifest ?? []);
  if (output.json) {
    output.line(JSON.stringify({ files }));
    return;
  }
  output.table(files, [
    { title: "FILE", value: ({ path }) => path },
    { title: "CHANGE", value: ({ change }) => change },
    { title: "BYTES", value: ({ bytes }) => String(bytes ?? ""), right: true },
    { title: "OTHER", value: ({ otherBytes }) => String(otherBytes ?? ""), right: true },
  ]);
}

type Difference = {
  readonly path: string;
  /** added: only the other checkpoint has the file. */
  readonly change: "added" | "removed" | "changed";
  readonly bytes?: number;
  readonly otherBytes?: number;
};

export function differences(
  files: readonly Plain<FileEntry>[],
  others: readonly Plain<FileEntry>[],
): readonly Difference[] {
  const mine = new Map(files.map((file) => [file.path, file]));
  const theirs = new Map(others.map((file) => [file.path, file]));
  const paths = [...new Set([...mine.keys(), ...theirs.keys()])].sort();
  return paths.flatMap((path): readonly Difference[] => {
    const [one, other] = [mine.get(path), theirs.get(path)];
    if (one?.sha256 === other?.sha256) return [];
    const change = one === undefined ? "added" : other === undefined ? "removed" : "changed";
    return [
      {
        path,
        change,
        ...(one && { bytes: one.bytes }),
        ...(other && { otherBytes: other.bytes }),
      },
    ];
  });
}

async function verify({ client, output }: Context, args: readonly string[]): Promise<void> {
  const checkpoint = argument(args, 0);
  let found: ReplyOf<"verifyCheckpoint">;
  for (;;) {
    // Each call waits up to some seconds for the result; the verification continues between the calls.
    found = await client.call("verifyCheckpoint", { checkpoint });
    if (found.done) break;
    await pause(client.clock, cliLimits.verifyAgainMs);
  }
  if (output.json) output.message(VerificationSchema, found);
  else {
    output.table(found.problems, [
      { title: "FILE", value: ({ path }) => path },
      { title: "PROBLEM", value: ({ kind }) => kind },
      { title: "DETAIL", value: ({ detail }) => detail },
    ]);
  }
  const { count, files, bytes, extras, extraCount } = found;
  if (!output.json && extraCount > 0) {
    const named = extras.slice(0, cliLimits.extrasNamedMax).map((path) => JSON.stringify(path));
    const others = extraCount > named.length ? ", …" : "";
    output.note(
      `${extraCount} other files are beside them, which the manifest does not name and nothing reads: ${named.join(", ")}${others}`,
    );
  }
  if (count > 0) throw new Failure(`Checkpoint ${checkpoint} is damaged: ${count} problems.`);
  if (!output.json) output.note(`${files} files with ${bytes} bytes are as the manifest says`);
}

type AuditOptions = {
  readonly deleteUnknown?: boolean;
  readonly olderThan?: string;
  readonly reason?: string;
};

async function audit(
  { client, output }: Context,
  args: readonly string[],
  { deleteUnknown = false, olderThan = "14d", reason = "" }: AuditOptions,
): Promise<void> {
  const ageMs = millisecondsOf("--older-than", olderThan);
  if (deleteUnknown && ageMs < cliLimits.auditAgeLeastMs) {
    throw new UsageError(
      "--older-than takes at least 9d: younger files may be of a run that has not declared them yet.",
    );
  }
  const request = { root: argument(args, 0), reason };
  const found = await client.call("auditStorage", {
    ...request,
    ...(deleteUnknown ? { deleteOlderThanMs: ageMs } : {}),
  });
  if (output.json) {
    output.message(StorageAuditSchema, found);
    return;
  }
  output.table(found.findings, [
    { title: "ROOT", value: ({ root }) => root },
    { title: "NAME", value: ({ name }) => name },
    { title: "FINDING", value: ({ kind }) => kind },
    { title: "CHANGED", value: ({ changedAtMs }) => time(changedAtMs) },
    { title: "DELETED", value: ({ deleted }) => (deleted ? "yes" : "") },
  ]);
  for (const { root, checkpoints, problem } of found.roots) {
    output.note(
      problem === ""
        ? `${root}: compared with ${checkpoints} checkpoints of the log`
        : `${root}: ${problem}`,
    );
  }
}
