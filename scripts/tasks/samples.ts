// npm run -s samples -- [SEED] [FOLDER…]: draws thirty comments, twenty messages and twenty test names to read aloud,
// and prints the seed. Each text that needs a second reading is to be rewritten.
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { repositoryFiles } from "../lib/repository-files.ts";
import { root } from "../lib/root.ts";
import { drawn, type SampleKind, textsOf } from "../lib/text-samples.ts";

const counts: readonly (readonly [SampleKind, number])[] = [
  ["comment", 30],
  ["message", 20],
  ["test name", 20],
];
const [seed = String(randomInt(1_000_000_000)), ...folders] = process.argv.slice(2);
const sources = repositoryFiles()
  .filter((path) => /\.(tsx?|py)$/.test(path))
  .filter((path) => folders.length === 0 || folders.some((folder) => path.startsWith(folder)))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
process.stdout.write(`seed ${seed}\n`);
for (const [kind, count] of counts) {
  for (const { file, line, text } of drawn(textsOf(kind, sources), count, seed)) {
    process.stdout.write(`${kind}  ${file}:${line}  ${text}\n`);
  }
}
