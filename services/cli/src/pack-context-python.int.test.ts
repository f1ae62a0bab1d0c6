// The Python client and the command line pack a folder alike. The tar archives are equal byte for byte; the compression
// differs, since each uses its own zlib.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import ignore from "ignore";
import { afterEach, beforeEach, expect, test } from "vitest";
import { packContext } from "./pack-context.ts";
import { tooLarge } from "./packed-sizes.ts";
import { UsageError } from "./usage-error.ts";

const sdk = join(import.meta.dirname, "..", "..", "..", "libs", "sdk-python", "src");

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "yard-packed-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function python(script: string, input = ""): Buffer {
  const env = { ...process.env, PYTHONPATH: sdk, PYTHONDONTWRITEBYTECODE: "1" };
  const maxBuffer = 256 * 1024 * 1024;
  return execFileSync("python3", ["-c", script, folder], { env, input, maxBuffer });
}

const pack = `
import sys
from trainyard._code import CodeError, packed
try:
    sys.stdout.buffer.write(packed(sys.argv[1]).content)
except CodeError as error:
    sys.stdout.write(str(error))
`;

async function expectEqual(): Promise<Buffer> {
  const ours = gunzipSync((await packContext(folder, folder)).bytes);
  const theirs = gunzipSync(python(pack));
  const at = ours.findIndex((byte, index) => byte !== theirs[index]);
  const block = Math.max(0, at - (at % 512));
  const shown = (bytes: Buffer) => bytes.subarray(block, block + 512).toString("latin1");
  if (at !== -1) expect(shown(theirs), `block ${block / 512}`).toBe(shown(ours));
  expect(theirs.length).toBe(ours.length);
  return ours;
}

function write(name: string, text: string | Buffer = name): void {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
}

test("command line and Python send equal archives of a folder with links, modes, empty folders and odd names", {
  timeout: 120_000,
}, async () => {
  for (const name of ["train.py", "models/net.py", "a b/c.py", "a-b", "a.b", "@run.py", "@dir/x"])
    write(name);
  for (const name of [
    "größe/ü.txt",
    "日本語/模型.py",
    "😀.py",
    "\uff5e.py",
    "new\nline",
    "tab\t=",
    "C:x",
  ])
    write(name);
  for (const name of [
    "back\\slash",
    "\\root",
    "C:",
    "-rf",
    "--",
    "#x",
    "!x",
    " space ",
    "z".repeat(200),
  ])
    write(name);
  // Lengths around the limits of a tar header: 99 to 101 bytes, and names that fit only with a prefix.
  for (const length of [98, 99, 100, 101, 102, 154, 155, 156, 157]) {
    write(`${"d".repeat(length)}/f`);
    write(`f${"n".repeat(length - 1)}`);
    write(`${"p".repeat(60)}/${"q".repeat(60)}/${"r".repeat(length)}`);
    mkdirSync(join(folder, `${"e".repeat(length)}/empty`), { recursive: true });
    mkdirSync(join(folder, "s", "h".repeat(length)), { recursive: true });
    symlinkSync("t".repeat(length), join(folder, `link${length}`));
  }
  write(`${"ä".repeat(49)}x`);
  write(`x${"ä".repeat(70)}/${"😀".repeat(40)}`);
  write(`${"k/".repeat(140)}deep`);
  for (const [index, mode] of [0o400, 0o600, 0o644, 0o664, 0o666, 0o755, 0o777, 0o4755].entries()) {
    write(`mode${index}`);
    chmodSync(join(folder, `mode${index}`), mode);
    mkdirSync(join(folder, `folder${index}`));
    chmodSync(join(folder, `folder${index}`), mode | 0o500);
  }
  symlinkSync("../../outside", join(folder, "dangling"));
  symlinkSync("models", join(folder, "linked-folder"));
  symlinkSync("größe", join(folder, "linked-größe"));
  write("hard-a");
  linkSync(join(folder, "hard-a"), join(folder, "hard-b"));
  linkSync(join(folder, "hard-a"), join(folder, "models", "hard-c"));
  mkdirSync(join(folder, "empty", "inner"), { recursive: true });
  write("only-ignored/__pycache__/x.pyc");
  write("trainyard-local/1/model.pt");
  write(".git/HEAD");
  write("empty.txt", "");
  for (const bytes of [511, 512, 513, 1_048_575, 1_048_577]) {
    write(`size${bytes}`, Buffer.alloc(bytes, `${bytes} `));
  }
  write("large.bin");
  truncateSync(join(folder, "large.bin"), 70_000_001);
  expect((await expectEqual()).length).toBeGreaterThan(70_000_000);
});

test("command line and Python send equal archives of an empty folder", async () => {
  await expectEqual();
});

test("command line and Python refuse the same folders with the same sentences", async () => {
  for (const [name, prepare] of [
    ["none", () => {}],
    ["file", (path: string) => writeFileSync(path, "")],
  ] as const) {
    const before = folder;
    folder = join(folder, name);
    prepare(folder);
    await expect(packContext(folder, folder)).rejects.toThrow(python(pack).toString("utf8"));
    folder = before;
  }
});

test("a file name that is not UTF-8 is refused with one sentence, unless it is ignored", async () => {
  write("train.py");
  for (const name of ["bad-\xff.py", "bad-\xfe.py"]) {
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, "latin1")]), "");
  }
  const refusal = python(pack).toString("utf8");
  expect(refusal).toBe(
    `The context ${folder} cannot be read: the name bad-\ufffd.py is not UTF-8.`,
  );
  await expect(packContext(folder, folder)).rejects.toThrow(new UsageError(refusal));
  write(".trainyardignore", "bad-*\n");
  await expectEqual();
});

test("the refusal of a folder over the limit names its three largest files, with their sizes", async () => {
  const sizes = {
    "weights.bin": 200 * 2 ** 20 + 419_430,
    "data/x": 3 * 2 ** 30,
    "@a": 1023,
    b: 1536,
    c: 1,
  };
  for (const [name, size] of Object.entries(sizes)) {
    write(name);
    truncateSync(join(folder, name), size);
  }
  symlinkSync("weights.bin", join(folder, "link"));
  const script = `
import os, sys
from trainyard._code._pack import too_large
for names in (sys.stdin.read().split(), ["b"], ["@a", "link", "c"]):
    print(too_large(sys.argv[1], [(name, os.path.join(sys.argv[1], name)) for name in names]))
`;
  const names = ["@a", "b", "c", "data/x", "link", "weights.bin"];
  const theirs = python(script, names.join(" ")).toString("utf8").trim().split("\n");
  const ours = [names, ["b"], ["@a", "link", "c"]].map((paths) => tooLarge(folder, folder, paths));
  expect((await Promise.all(ours)).map(({ message }) => message)).toEqual(theirs);
  expect(theirs).toEqual([
    expect.stringContaining(
      "files are data/x (3 GiB), weights.bin (200 MiB) and b (2 KiB); name what",
    ),
    expect.stringContaining("files are b (2 KiB); name what"),
    expect.stringContaining("files are @a (1023 B) and c (1 B); name what"),
  ]);
});

const text = fc
  .array(
    fc.constantFrom("a", "b", "A", "/", "*", "**", "**/", "/**", "?", "[ab]", "[!a]", "[a-c]", "."),
    { minLength: 1, maxLength: 7 },
  )
  .map((parts) => parts.join(""));
const pattern = fc.oneof(
  text,
  text.map((one) => `!${one}`),
  text.map((one) => `${one}  `),
  fc.constantFrom(
    "\\#a",
    "\\!a",
    "a\\ ",
    "a\\",
    "#a",
    "",
    " ",
    "/",
    "//",
    "[]a]",
    "[a",
    "[[:digit:]a]",
    "***",
    "/***",
  ),
);
const path = fc
  .array(fc.constantFrom("a", "b", "c", "A", "ab", "a.b", "[a", "#a", "!a", "a ", "1"), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join("/"));

test("command line and Python leave out the same files", { timeout: 120_000 }, () => {
  const cases = fc.sample(
    fc.record({
      patterns: fc.array(pattern, { minLength: 1, maxLength: 4 }),
      paths: fc.array(path, { minLength: 8, maxLength: 8 }),
    }),
    { numRuns: 2_000, seed: 18 },
  );
  const script = `
import json, sys
from trainyard._code._ignored import Rules, lines_of
for case in json.load(sys.stdin):
    rules = Rules(lines_of("\\n".join(case["patterns"])))
    def out(path):
        parts = path.rstrip("/").split("/")
        above = ["/".join(parts[:end]) for end in range(1, len(parts))]
        return any(rules.leave_out(one, True) for one in above) or rules.leave_out("/".join(parts), path.endswith("/"))
    print(json.dumps([out(path) for name in case["paths"] for path in (name, name + "/")]))
`;
  const theirs = python(script, JSON.stringify(cases)).toString("utf8").trim().split("\n");
  const different = cases.flatMap(({ patterns, paths }, index) => {
    const rules = ignore().add(patterns.join("\n"));
    const answers = JSON.parse(theirs[index] ?? "[]") as boolean[];
    return paths
      .flatMap((name) => [name, `${name}/`])
      .filter((name, n) => rules.ignores(name) !== answers[n])
      .map((name) => ({ patterns, name, ignored: rules.ignores(name) }));
  });
  expect(different).toEqual([]);
});
