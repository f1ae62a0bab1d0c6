import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { pythonFormat, pythonLint } from "../../scripts/gates/python-lint.ts";
import { pythonTypes } from "../../scripts/gates/python-types.ts";
import { ruff } from "../../scripts/lib/python-tools.ts";
import { needTorch } from "../world/torch.ts";

// The limit of Pyright, which reads the declarations of PyTorch: some seconds, and more on a busy machine.
const typesMs = 600_000;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "trainyard-python-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function planted(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** The mistakes that ruff.toml must refuse, by the code of the rule. */
const refused: Readonly<Record<string, string>> = {
  E501: `# ${"long ".repeat(24)}\n`,
  E722: "try:\n    print()\nexcept:\n    print()\n",
  F401: "import os\n",
  F821: "print(missing)\n",
  I001: "import sys\nimport os\n\nprint(os, sys)\n",
  UP006: "from typing import List\n\nx: List[int] = []\n",
  B006: "def append(to=[]):\n    to.append(1)\n",
  SIM102: "def a(b, c):\n    if b:\n        if c:\n            return 1\n    return 2\n",
  C416: "print([one for one in range(3)])\n",
  PIE790: 'def a():\n    """Nothing."""\n    pass\n',
  RET505: "def a(b):\n    if b:\n        return 1\n    else:\n        return 2\n",
  RUF005: "print([1] + [*range(3)])\n",
};

/** The mistakes that pyrightconfig.json must refuse, by the name of the rule. */
const mistyped: Readonly<Record<string, string>> = {
  reportAttributeAccessIssue:
    "import trainyard\n\nwith trainyard.init() as ctx:\n    ctx.trian.report_progress(1.0)\n",
  reportArgumentType:
    "import trainyard\n\nwith trainyard.init() as ctx:\n    ctx.train.report_progress(None)\n",
  reportReturnType: "import torch\n\n\ndef size(of: torch.Tensor) -> str:\n    return of.numel()\n",
};

describe("python lint", () => {
  it("refuses one planted mistake of each family of rules", async ({ skip }) => {
    const tool = ruff();
    if (tool.program === null) notRun(skip, tool.why);
    const files = Object.entries(refused).map(([rule, text]) => planted(`${rule}.py`, text));
    const { ok, seen, output } = await pythonLint.run(files);
    expect({ ok, seen }).toEqual({ ok: false, seen: files.length });
    for (const rule of Object.keys(refused)) {
      expect(output).toMatch(new RegExp(`${rule}\\.py:\\d+:\\d+: ${rule} `));
    }
  });
});

describe("python format", () => {
  it("refuses a file in another format, and accepts one in the right format", async ({ skip }) => {
    const tool = ruff();
    if (tool.program === null) notRun(skip, tool.why);
    const right = planted("right.py", 'print("a")\n');
    const wrong = planted("wrong.py", "print( 'a' )\n");
    expect(await pythonFormat.run([right])).toMatchObject({ ok: true, seen: 1 });
    const { ok, output } = await pythonFormat.run([right, wrong]);
    expect(ok).toBe(false);
    expect(output).toContain("wrong.py");
    expect(output).not.toContain("right.py");
  });
});

describe("python types", () => {
  test(
    "refuses planted type mistakes, in our types and in those that a package declares",
    async ({ skip }) => {
      needTorch(skip);
      const files = Object.entries(mistyped).map(([rule, text]) => planted(`${rule}.py`, text));
      const { ok, seen, output } = await pythonTypes.run(files);
      expect({ ok, seen }).toEqual({ ok: false, seen: files.length });
      for (const rule of Object.keys(mistyped)) {
        expect(output).toMatch(new RegExp(`${rule}\\.py:\\d+ ${rule} `));
      }
    },
    typesMs,
  );
});

test("a Python gate without Python files reports that it saw none", async () => {
  for (const gate of [pythonLint, pythonFormat, pythonTypes]) {
    expect((await gate.run(["README.md"])).seen).toBe(0);
  }
});
