import { readFile } from "node:fs/promises";
import { authidOf, localUser } from "@trainyard/access";
import { deriveCommitId } from "@trainyard/event-log";
import { serviceMeta } from "@trainyard/runtime";
import type { Backend } from "../backend.ts";
import { Problem } from "../http/problem.ts";
import { issueToken } from "./tokens.ts";

/**
 * Issues the token whose text is in a file (0600) that the starter of the cluster wrote, unless the log has it. So the
 * secret is never in an event, and a cluster with a new log accepts the token that people already have.
 */
export async function issueFirstToken(backend: Backend, file: string): Promise<void> {
  const text = (await readFile(file, "utf8")).trim();
  const [, id, secret] = /^ty_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/.exec(text) ?? [];
  if (id === undefined || secret === undefined) {
    const expected = "ty_, 16 hexadecimal digits, _, and 43 characters of base64url (32 bytes)";
    backend.parts.logger.error({ file, expected }, "first_token_unreadable");
    return;
  }
  const identity = {
    commitId: deriveCommitId("first token", id),
    meta: serviceMeta("gateway", { authid: "cluster" }),
  };
  const token = {
    id,
    secret,
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
