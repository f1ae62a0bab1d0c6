/**
 * The calls that reproduce an experiment: its submission, its model code, and its differences to another experiment.
 */
import { Readable } from "node:stream";
import { type CodeFile, codeFiles } from "@trainyard/blob";
import type { Plain, ReplyOf, RequestOf } from "@trainyard/contracts";
import type { FileDifference } from "@trainyard/contracts/api";
import { resubmittedText } from "@trainyard/experiment-config";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { SomeHandlers } from "../../http/request-context.ts";
import { readContent } from "../../spaces/contents.ts";
import { environmentsOf } from "../../spaces/environments.ts";
import { loadSubmission } from "../../spaces/submissions.ts";
import { configDifferences } from "../core/diff/configs.ts";
import { unifiedDiff } from "../core/diff/lines.ts";
import { creationOf } from "../experiments/fork-experiment.ts";
import { apiLimits } from "../limits.ts";
import { textOfBytes } from "../text-of-bytes.ts";

/** The most changed lines for which the shortest edit script is computed, which takes some milliseconds. */
const diffEditsMax = 300;

export function submissionHandlers(backend: Backend) {
  return {
    unary: {
      getSubmission: ({ experiment }) => getSubmission(backend, experiment),
      diffExperiments: (request, context) => diffExperiments(backend, request, context.signal),
    },
    raw: { downloadExperimentCode: ({ experiment }) => downloadCode(backend, experiment) },
  } satisfies SomeHandlers;
}

async function getSubmission(
  backend: Backend,
  experiment: string,
): Promise<ReplyOf<"getSubmission">> {
  const created = await creationOf(backend, experiment);
  const record = await loadSubmission(backend, created.submissionDigest);
  const { config = {}, seed } = created;
  const { text, masked } = resubmittedText(config, seed, record?.defaulted);
  return {
    experiment,
    config: text,
    masked: [...masked],
    seed,
    codeDigest: created.contextDigest,
    codeBytes: created.contextBytes,
    configSourceDigest: created.configSourceDigest,
    record,
    environments: [...(await environmentsOf(backend, experiment))],
  };
}

async function downloadCode(backend: Backend, experiment: string) {
  const { contextDigest } = await creationOf(backend, experiment);
  const content = await readContent(backend.parts, { folder: "contexts", digest: contextDigest });
  if (content === null) throw withoutCode(experiment);
  const fileName = `experiment-${experiment}-code.tar.gz`;
  return { contentType: "application/gzip", fileName, body: Readable.from(content.stream) };
}

function withoutCode(experiment: string): Problem {
  return new Problem(404, "context_not_found", `experiment ${experiment} has no model code`);
}

async function diffExperiments(
  backend: Backend,
  { experiment, other }: RequestOf<"diffExperiments">,
  signal: AbortSignal,
): Promise<ReplyOf<"diffExperiments">> {
  const [a, b] = [await creationOf(backend, experiment), await creationOf(backend, other)];
  const texts = await Promise.all(
    [a, b].map(({ submissionDigest }) => loadSubmission(backend, submissionDigest)),
  );
  const [before, after] = texts.every((text) => text !== undefined)
    ? texts.map((text) => text?.configText ?? "")
    : [a, b].map(({ config, seed }) => resubmittedText(config ?? {}, seed).text);
  const { files, leftOut } = await codeDifferences(
    {
      before: { experiment, digest: a.contextDigest },
      after: { experiment: other, digest: b.contextDigest },
    },
    (code, keeps) => filesOf(backend, code, signal, keeps),
  );
  return {
    config: [...configDifferences(a.config ?? {}, b.config ?? {})],
    configText: unifiedDiff("config.yaml", before ?? "", after ?? "", diffEditsMax),
    files: [...files],
    leftOut,
  };
}

type CodeFiles = ReadonlyMap<string, CodeFile>;

type Code = { readonly experiment: string; readonly digest: string };

type ReadFiles = (code: Code, keeps?: (path: string) => boolean) => Promise<CodeFiles>;

/** Compares the code in two passes: first which files differ, then the contents of those that are compared as text. */
async function codeDifferences(
  { before, after }: { readonly before: Code; readonly after: Code },
  read: ReadFiles,
): Promise<{ readonly files: readonly Plain<FileDifference>[]; readonly leftOut: string }> {
  if (before.digest === after.digest) return { files: [], leftOut: "" };
  const [a, b] = [await read(before), await read(after)];
  const paths = [...new Set([...a.keys(), ...b.keys()])].toSorted();
  const all = paths.filter((path) => identityOf(a.get(path)) !== identityOf(b.get(path)));
  const { diffFilesMax, diffFileBytesMax, diffTextFilesMax } = apiLimits;
  const changed = all.slice(0, diffFilesMax);
  const small = changed.filter((path) =>
    [a, b].every((files) => (files.get(path)?.bytes ?? 0) <= diffFileBytesMax),
  );
  const compared = new Set(small.slice(0, diffTextFilesMax));
  const keeps = (path: string): boolean => compared.has(path);
  const [mine, theirs] = [await read(before, keeps), await read(after, keeps)];
  const files: Plain<FileDifference>[] = [];
  for (const path of changed) {
    // Lets other work of the event loop run between two files.
    await new Promise((resolve) => setImmediate(resolve));
    files.push(differenceOf(path, mine, theirs, keeps(path)));
  }
  const leftOut = [
    all.length > changed.length ? `${all.length - changed.length} more files differ` : "",
    changed.length > compared.size
      ? `${changed.length - compared.size} files are not compared as text: they have more than ${diffFileBytesMax} bytes, or are beyond the first ${diffTextFilesMax}`
      : "",
  ];
  return { files, leftOut: leftOut.filter((sentence) => sentence !== "").join("; ") };
}

async function filesOf(
  backend: Backend,
  { experiment, digest }: Code,
  signal: AbortSignal,
  keeps?: (path: string) => boolean,
): Promise<CodeFiles> {
  if (digest === "") return new Map();
  const packed = await readContent(backend.parts, { folder: "contexts", digest });
  if (packed === null) throw withoutCode(experiment);
  const { diffFileBytesMax } = apiLimits;
  const files = await codeFiles(
    Readable.from(packed.stream),
    signal,
    // An archive may have a path twice; the size that was checked is that of the last entry.
    (path, bytes) => keeps?.(path) === true && bytes <= diffFileBytesMax,
  );
  return new Map(files.map((file) => [file.path, file]));
}

/** Returns a text that is equal for files with equal contents, and for links to the same place. */
const identityOf = (file: CodeFile | undefined): string | undefined =>
  file === undefined ? undefined : `${file.sha256} ${file.link}`;

function differenceOf(
  path: string,
  before: CodeFiles,
  after: CodeFiles,
  asText: boolean,
): Plain<FileDifference> {
  const [a, b] = [before.get(path), after.get(path)];
  const change = a === undefined ? "added" : b === undefined ? "removed" : "changed";
  const [mine, theirs] = [textOf(a), textOf(b)];
  const isText = asText && mine !== undefined && theirs !== undefined;
  return {
    path,
    change,
    ...(a === undefined ? {} : { bytesBefore: a.bytes }),
    ...(b === undefined ? {} : { bytesAfter: b.bytes }),
    text: isText ? unifiedDiff(path, mine, theirs, diffEditsMax) : "",
  };
}

/** Returns the text of a file; null if the file is missing, undefined if it is not text. */
function textOf(file: CodeFile | undefined): string | null | undefined {
  if (file === undefined) return null;
  return file.content === undefined ? undefined : (textOfBytes(file.content) ?? undefined);
}
