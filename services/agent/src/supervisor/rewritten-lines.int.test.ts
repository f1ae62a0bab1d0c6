/** The contract of both implementations: they store the same lines. */
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "./line-splitter.ts";
import { python } from "./python.ts";
import { RewrittenLines } from "./rewritten-lines.ts";

/** Chunks of bytes as latin1, each with the time at which it arrives. */
type World = readonly (readonly [string, number])[];

const program = `
import json, sys
sys.path.insert(0, sys.argv[1])
import files, rewritten_lines
for line in sys.stdin:
    splitter, rewritten, stored, now = files.LineSplitter(), rewritten_lines.RewrittenLines(), [], 0
    for text, now in json.loads(line):
        stored += rewritten.push(splitter.push(text.encode("latin1")), now / 1000) + rewritten.due(now / 1000)
    stored += rewritten.push(splitter.end(), now / 1000) + rewritten.end()
    print(json.dumps(stored))
`;

function storedHere(world: World): readonly (readonly [string, boolean])[] {
  const splitter = new LineSplitter();
  const rewritten = new RewrittenLines();
  const stored = world.flatMap(([text, nowMs]) => [
    ...rewritten.push(splitter.push(Buffer.from(text, "latin1")), nowMs),
    ...rewritten.due(nowMs),
  ]);
  const end = rewritten.push(splitter.end(), world.at(-1)?.[1] ?? 0);
  return [...stored, ...end, ...rewritten.end()].map(({ text, continued }) => [text, continued]);
}

test("Python and TypeScript store the same lines of the same bytes", () => {
  const part = fc.constantFrom(
    ..."\n \r \r\n \r\r \u001b[A\n \u001b[1m [rank=3]\u0020 1 99% step epoch: a é \0".split(" "),
    "    ",
    "x".repeat(9_000),
    "\xa0\u0085",
  );
  const chunk = fc.tuple(fc.array(part, { maxLength: 6 }), fc.nat(6_000));
  const worlds = fc.sample(fc.array(chunk, { maxLength: 25 }), 400).map((chunks) => {
    let nowMs = 0;
    return chunks.map(([parts, ms]) => [parts.join(""), (nowMs += ms)] as const);
  });
  const maxBuffer = 256 * 1024 * 1024;
  const input = worlds.map((world) => JSON.stringify(world)).join("\n");
  const ended = spawnSync(python(), ["-I", "-S", "-c", program, import.meta.dirname], {
    input,
    maxBuffer,
  });
  expect(ended.stderr.toString()).toBe("");
  const told = ended.stdout.toString().trimEnd().split("\n");
  expect(told.map((line) => JSON.parse(line))).toEqual(worlds.map(storedHere));
});
