/** Reads the submission of `experiment create`: a configuration and a folder of code, or a downloaded folder. */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Plain, RequestInitOf } from "@trainyard/contracts";
import { type SourceRepository, type Submission, SubmissionSchema } from "@trainyard/contracts/api";
import { codecOf } from "@trainyard/contracts/codec";
import { askSecret, canAsk } from "./prompts.ts";
import { readConfig } from "./config-file.ts";
import { callerPath } from "./environment.ts";
import { packContext, type PackedContext } from "./pack-context.ts";
import { repositoryOf } from "./repository.ts";
import { UsageError } from "./usage-error.ts";
import { cliVersion } from "./version.ts";

/** The files of a downloaded experiment. */
export const downloaded = {
  config: "experiment.yaml",
  submitted: "submitted.yaml",
  code: "code",
  facts: "submission.json",
  diff: "changes.diff",
  packages: "requirements.txt",
} as const;

type Submitted = {
  readonly request: RequestInitOf<"createExperiment">;
  readonly packed: PackedContext;
};

/** Reads a submission. Without `context`, `config` is a downloaded folder. */
export async function readSubmission(
  config: string,
  context: string,
  overrides: readonly string[],
): Promise<Submitted> {
  const again = context === "";
  if (again && !(await isFile(join(callerPath(config), downloaded.config)))) {
    throw new UsageError(
      `Give the folder of training code after ${config}; only a folder of "experiment download" needs none.`,
    );
  }
  const file = again ? join(config, downloaded.config) : config;
  const folder = again ? join(config, downloaded.code) : context;
  const text = await withSecrets(await readConfig(file, overrides), file);
  const packed = await packContext(callerPath(folder), folder);
  const repository = again
    ? await recordedRepository(callerPath(config), packed)
    : await repositoryOf(callerPath(folder));
  const code = { context: packed.bytes, client: `yard ${cliVersion}` };
  const request = { config: text, overrides: [...overrides], ...code };
  return { request: repository === undefined ? request : { ...request, repository }, packed };
}

/** Returns the text with its masked values replaced by those that the person enters. */
async function withSecrets(text: string, file: string): Promise<string> {
  if (!text.includes("<masked>")) return text;
  const { maskedPaths, submittedDocument, withMaskedValues } = await import(
    "@trainyard/experiment-config"
  );
  const masked = maskedPaths(submittedDocument(text, []) ?? {});
  if (masked.length === 0) return text;
  const names = [...new Set(masked.map(({ name }) => name))];
  if (!canAsk()) {
    const list = names.join(", ");
    throw new UsageError(`${file} has masked values: put the values of ${list} in their places.`);
  }
  const values = new Map<string, string>();
  for (const name of names) values.set(name, await askSecret(`${name}: `));
  return withMaskedValues(text, masked, (name) => values.get(name) ?? "");
}

/** Returns the repository that was recorded with downloaded code, if the code is unchanged. */
async function recordedRepository(
  folder: string,
  { bytes }: PackedContext,
): Promise<Plain<SourceRepository> | undefined> {
  const text = await readFile(join(folder, downloaded.facts), "utf8").catch(() => "{}");
  let facts: Plain<Submission>;
  try {
    facts = codecOf<Plain<Submission>>(SubmissionSchema).decode(text);
  } catch {
    throw new UsageError(
      `${downloaded.facts} of the folder is damaged: download the experiment again.`,
    );
  }
  const same = facts.codeDigest === createHash("sha256").update(bytes).digest("hex");
  return same ? facts.record?.repository : undefined;
}

const isFile = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null))?.isFile() === true;
