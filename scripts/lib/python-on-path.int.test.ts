import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, it } from "vitest";
import { withPythonFirst } from "./python-on-path.ts";

const path = process.env["PATH"] ?? "";

let shims = "";
beforeEach(() => {
  shims = mkdtempSync(join(tmpdir(), "ty-shims-"));
});
afterEach(() => rmSync(shims, { recursive: true }));

/** Returns a PATH on which a script called `python3` comes first. */
function withShim(script: string): string {
  writeFileSync(join(shims, "python3"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return `${shims}${delimiter}${path}`;
}

it("the interpreter comes before a shim, and no folder is added if it comes first already", () => {
  const program = ["-c", "import sys; print(sys.executable)"];
  const python = execFileSync("python3", program, { encoding: "utf8" }).trim();
  const shimFirst = withShim(`exec ${python} "$@"`);
  const improved = withPythonFirst(shimFirst);
  expect(improved).toBe(`${dirname(python)}${delimiter}${shimFirst}`);
  expect(withPythonFirst(improved)).toBe(improved);
});

it.each(["echo 'version 3.99 is not installed' >&2; exit 127", "exit 0"])(
  "a PATH whose first python3 does not start a Python stays as it is: %s",
  (script) => {
    const shimFirst = withShim(script);
    expect(withPythonFirst(shimFirst)).toBe(shimFirst);
  },
);

it("a PATH without a Python stays as it is", () => {
  expect(withPythonFirst("/nowhere")).toBe("/nowhere");
});
