import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { releasedImage } from "../../scripts/lib/generated-code.ts";
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
