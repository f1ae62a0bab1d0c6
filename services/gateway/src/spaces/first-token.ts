import { readFile } from "node:fs/promises";
import { authidOf, localUser } from "@trainyard/access";
import { deriveCommitId } from "@trainyard/event-log";
import { readApiToken } from "@trainyard/kernel/api-token";
import { serviceMeta } from "@trainyard/runtime";
import type { Backend } from "../backend.ts";
import { Problem } from "../http/problem.ts";
import { issueToken } from "./tokens.ts";

/**
 * Issues the token whose text is in a file (0600) that the starter of the cluster wrote, unless the log has it. So the
 * secret is never in an event, and a cluster with a new log accepts the token that people already have.
 */
export async function issueFirstToken(backend: Backend, file: string): Promise<void> {
  const given = readApiToken((await readFile(file, "utf8")).trim());
  if (given === null) {
    const expected = "ty_, 16 hexadecimal digits, _, and 43 characters of base64url (32 bytes)";
    backend.parts.logger.error({ file, expected }, "first_token_unreadable");
    return;
  }
  const identity = {
    commitId: deriveCommitId("first token", given.id),
    meta: serviceMeta("gateway", { authid: "cluster" }),
  };
  const token = {
    ...given,
    label: "first",
    // The first user makes it the service account of this name.
    owner: authidOf(localUser),
    expiresAtMs: 0,
    ancestors: [],
    limits: [],
  };
  try {
    await issueToken(backend, identity, token);
  } catch (error) {
    // From the second start on the log has the token, valid or revoked.
    if (!(error instanceof Problem && error.code === "token_exists")) throw error;
  }
}
