import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { expect, it } from "vitest";
import { withPythonFirst } from "./python-on-path.ts";

const path = process.env["PATH"] ?? "";

it("the interpreter comes before a shim, and no folder is added if it comes first already", () => {
  const program = ["-c", "import sys; print(sys.executable)"];
  const python = execFileSync("python3", program, { encoding: "utf8" }).trim();
  const shims = mkdtempSync(join(tmpdir(), "ty-shims-"));
  try {
    const shim = `#!/bin/sh\nexec ${python} "$@"\n`;
    writeFileSync(join(shims, "python3"), shim, { mode: 0o755 });
    const withShim = `${shims}${delimiter}${path}`;
    const improved = withPythonFirst(withShim);
    expect(improved).toBe(`${dirname(python)}${delimiter}${withShim}`);
    expect(withPythonFirst(improved)).toBe(improved);
  } finally {
    rmSync(shims, { recursive: true });
  }
});

it("a PATH without a Python stays as it is", () => {
  expect(withPythonFirst("/nowhere")).toBe("/nowhere");
});
