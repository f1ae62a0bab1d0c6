import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiSurface, documentsFolder } from "../../scripts/lib/api-documents/documents.ts";
import {
  type AsyncApi,
  missingFrom,
  type OpenApi,
  surfaceOf,
} from "../../scripts/lib/api-documents/surface.ts";
import { releasedImage, releasedSurface } from "../../scripts/lib/generated-code.ts";
import { root } from "../../scripts/lib/root.ts";
import { runTool, type ToolResult } from "../../scripts/lib/run-tool.ts";

let workspace = "";

beforeAll(() => {
  workspace = mkdtempSync(join(tmpdir(), "trainyard-protocol-"));
  const annotations = "node_modules/google-proto-files/google/api";
  for (const path of ["buf.yaml", "proto", annotations]) {
    cpSync(join(root, path), join(workspace, path), { recursive: true });
  }
});

afterAll(() => rmSync(workspace, { recursive: true, force: true }));

function breaking(): Promise<ToolResult> {
  return runTool("buf", ["breaking", "proto", "--against", join(root, releasedImage)], workspace);
}

/** Compares with one file changed, and restores it. */
async function breakingWith(file: string, from: string, to: string): Promise<ToolResult> {
  const path = join(workspace, "proto", "trainyard", file);
  const text = readFileSync(path, "utf8");
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
  try {
    return await breaking();
  } finally {
    writeFileSync(path, text);
  }
}

describe("the released protocol", () => {
  it("is not broken by today's", async () => {
    expect(await breaking()).toMatchObject({ code: 0, output: "" });
  });

  it.each([
    ["a number that is another field's", "string reason = 2;", "string reason = 9;"],
    ["another type", "double step = 3;", "string step = 3;"],
    ["another name", "uint32 restarts = 3;", "uint32 restart_count = 3;"],
    ["a field less", "bool counts_as_restart = 5;", ""],
    ["an enum's value less", "  TRIAL_OUTCOME_CANCELED = 3;\n", ""],
    ["a message less", "message ExperimentPaused {}", ""],
  ])("is broken by %s", async (_what, from, to) => {
    const { code, output } = await breakingWith("event/v1/experiment.proto", from, to);
    expect(output).toContain("experiment.proto");
    expect(code).not.toBe(0);
  });

  it("is not broken by an additional field", async () => {
    const added = "bool counts_as_restart = 5;\n  string added_later = 99;";
    const answer = await breakingWith(
      "event/v1/experiment.proto",
      "bool counts_as_restart = 5;",
      added,
    );
    expect(answer).toMatchObject({ code: 0, output: "" });
  });
});

describe("the released documents of the API", () => {
  const released = readFileSync(join(root, releasedSurface), "utf8").trim().split("\n");

  it("are not broken by today's", () => {
    expect(missingFrom(apiSurface(), released)).toEqual([]);
    expect(released.length).toBeGreaterThan(1_000);
  });

  it.each([
    ["a path less", "/api/v1/pools/{name}", "/api/v1/pool/{name}", "call GET /api/v1/pools/{name}"],
    ["another verb", '"put":', '"post":', "call PUT /api/v1/pools/{name}"],
    [
      "a parameter less",
      '"noFollow"',
      '"follow"',
      "call GET /api/v1/events query noFollow: boolean",
    ],
    [
      "a header less",
      '"If-Match"',
      '"If"',
      "call PATCH /api/v1/experiments/{experiment} header If-Match: string",
    ],
    ["a field less", '"nextPageToken"', '"next"', "message ListJobsResponse.nextPageToken: string"],
    ["a code less", '"pool_in_use":', '"pool_used":', "code pool_in_use 409"],
    ["another subject", "ty.feed.{", "ty.feeds.{", "channel feed ty.feed.{subscription}"],
    [
      "a header of NATS less",
      '"Ty-Follows"',
      '"Follows"',
      "event NatsEvent header Ty-Follows: string",
    ],
    ["an event less", "ExperimentEnded", "ExperimentOver", "channel events has ExperimentEnded"],
  ])("are broken by %s, which a sentence names", (_what, from, to, line) => {
    const changed = (name: string): unknown =>
      JSON.parse(readFileSync(join(root, documentsFolder, name), "utf8").replaceAll(from, to));
    const today = surfaceOf(
      changed("openapi.json") as OpenApi,
      changed("asyncapi.json") as AsyncApi,
    );
    expect(missingFrom(today, released).join("\n")).toContain(
      `programs rely on what the documents no longer have: ${line}`,
    );
  });
});
