import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../scripts/lib/root.ts";
import { runTool } from "../../scripts/lib/run-tool.ts";

/** The mistakes that .oxlintrc.json must refuse, each in a separate file. */
const violations: Readonly<Record<string, { readonly rule: string; readonly text: string }>> = {
  "floating-promise.ts": {
    rule: "no-floating-promises",
    text: "export function a(b: () => Promise<void>): void {\n  b();\n}\n",
  },
  "misused-promise.ts": {
    rule: "no-misused-promises",
    text: "export const a = (b: (done: () => void) => void): void => b(async () => {});\n",
  },
  "explicit-any.ts": {
    rule: "no-explicit-any",
    text: "export const a = (b: any): void => void b;\n",
  },
  "unsafe-any.ts": {
    rule: "no-unsafe-assignment",
    text: 'const a: string = JSON.parse("1");\nexport { a };\n',
  },
  "non-null.ts": {
    rule: "no-non-null-assertion",
    text: "export const a = (b: string | null): number => b!.length;\n",
  },
  "empty-catch.ts": {
    rule: "no-empty",
    text: "export function a(b: () => void): void {\n  try {\n    b();\n  } catch {}\n}\n",
  },
  "console.ts": { rule: "no-console", text: 'console.log("here");\nexport {};\n' },
  "default-export.ts": { rule: "no-default-export", text: "export default 1;\n" },
  "thrown-text.ts": {
    rule: "only-throw-error",
    text: 'export function a(): void {\n  throw "text";\n}\n',
  },
  "open-switch.ts": {
    rule: "switch-exhaustiveness-check",
    text: 'export function a(b: "x" | "y"): void {\n  switch (b) {\n    case "x":\n      break;\n  }\n}\n',
  },
  "long-function.ts": {
    rule: "max-lines-per-function",
    text: `export function a(b: () => void): void {\n${"  b();\n".repeat(69)}}\n`,
  },
  "camelCase.ts": { rule: "filename-case", text: "export const a = 1;\n" },
};

type Report = {
  readonly diagnostics: readonly { readonly filename: string; readonly code: string }[];
};

let folder = "";
let found: readonly string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "trainyard-lint-"));
  for (const [name, { text }] of Object.entries(violations))
    writeFileSync(join(folder, name), text);
  const settings = {
    extends: join(root, "tsconfig.base.json"),
    compilerOptions: { types: [] },
    include: ["*.ts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const config = join(root, ".oxlintrc.json");
  const { stdout } = await runTool("oxlint", ["--config", config, "--format=json", "."], folder);
  const report = JSON.parse(stdout) as Report;
  found = report.diagnostics.map(({ filename, code }) => `${filename} ${code}`);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the linter refuses", () => {
  it.each(Object.keys(violations))("%s", (name) => {
    const rule = violations[name]?.rule ?? "";
    expect(found.filter((line) => line.startsWith(name))).toContainEqual(
      expect.stringContaining(`(${rule})`),
    );
  });
});
