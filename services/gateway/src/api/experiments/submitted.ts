/** The record of a submission beside its configuration, and the refusal of masked values. */
import type { Plain } from "@trainyard/contracts";
import type { SourceRepository, SubmissionRecord } from "@trainyard/contracts/api";
import {
  defaultedPaths,
  maskedOverrides,
  maskedPaths,
  maskedSource,
  maskedValue,
  type NormalisedConfig,
  submittedDocument,
} from "@trainyard/experiment-config";
import { utf8Bytes } from "@trainyard/kernel";
import { version } from "@trainyard/runtime";
import { Problem } from "../../http/problem.ts";
import { readModelLimits } from "../../read-model/limits.ts";
import { apiLimits } from "../limits.ts";

export type Submitted = {
  /** The YAML text of the configuration, with its secrets; the overrides have their secrets too. */
  readonly text: string;
  readonly overrides: readonly string[];
  readonly client: string;
  readonly repository?: Plain<SourceRepository> | undefined;
};

/** Refuses masked values, which a downloaded configuration has: its runs would fail later without the secrets. */
export function refuseMasked(text: string, overrides: readonly string[]): void {
  const found = maskedPaths(submittedDocument(text, overrides) ?? {});
  if (found.length === 0) return;
  const detail = `is ${maskedValue}: replace it with the secret value`;
  const problems = found
    .slice(0, readModelLimits.namesTold)
    .map(({ path, name }) => ({ path, detail: name === path ? detail : `(${name}) ${detail}` }));
  const paths = problems.map(({ path }) => path).join(", ");
  throw new Problem(400, "masked_value", `values are masked: ${paths}`, { problems });
}

export function recordOf(
  { text, overrides, client, repository }: Submitted,
  config: NormalisedConfig,
): Plain<SubmissionRecord> {
  const bytes = utf8Bytes(overrides.join(""));
  if (bytes > apiLimits.overridesBytesMax) {
    const detail = `the overrides have ${bytes} bytes; the maximum is ${apiLimits.overridesBytesMax}`;
    throw new Problem(400, "invalid_request", detail);
  }
  const document = submittedDocument(text, overrides) ?? {};
  return {
    configText: maskedSource(text),
    overrides: [...maskedOverrides(overrides)],
    defaulted: [...defaultedPaths(document, { ...config })],
    platformVersion: version,
    client: client.slice(0, apiLimits.sourceTextCharactersMax),
    ...(repository === undefined ? {} : { repository: checkedRepository(repository) }),
  };
}

function checkedRepository(repository: Plain<SourceRepository>): Plain<SourceRepository> {
  const { commit, branch, remote, folder, diff } = repository;
  const { sourceTextCharactersMax: most, sourceDiffCharactersMax } = apiLimits;
  const refuse = (detail: string) => new Problem(400, "invalid_request", `repository: ${detail}`);
  if (!/^[0-9a-f]{7,64}$/.test(commit)) throw refuse("commit must be 7 to 64 hexadecimal digits");
  if ([branch, remote, folder].some(({ length }) => length > most)) {
    throw refuse(`branch, remote and folder have at most ${most} characters each`);
  }
  if (diff.length > sourceDiffCharactersMax) {
    throw refuse(`diff has ${diff.length} characters and may have ${sourceDiffCharactersMax}`);
  }
  // The user part of a remote's address may be a user name, a password or a token, so it is removed.
  return { ...repository, remote: remote.replace(/:\/\/[^/]*@/, "://") };
}
