// npm run -s campaign -- NAME [--seed S] [--json], or --list: a suite at its full size; exit code 1 on a violation.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { Campaign } from "../lib/campaigns.ts";
import { endWithParent, endWithRunner } from "../lib/end-with-runner.ts";
import { useCompiledPrograms } from "../lib/programs/compiled-programs.ts";
import { root } from "../lib/root.ts";

const seedMax = 2 ** 32;

/**
 * Every folder of test/ with a campaign.ts exports one campaign, named after the folder, or a list of named campaigns.
 */
async function campaigns(): Promise<readonly Campaign[]> {
  const files = readdirSync(join(root, "test"))
    .map((folder) => join(root, "test", folder, "campaign.ts"))
    .filter((file) => existsSync(file));
  const modules = await Promise.all(files.map((file) => import(pathToFileURL(file).href)));
  return modules.flatMap((module: { readonly campaigns: readonly Campaign[] }) => module.campaigns);
}

function usage(problem: string): number {
  process.stderr.write(
    `${problem}\nusage: npm run -s campaign -- NAME [--seed S] [--json], or --list\n`,
  );
  return 2;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      list: { type: "boolean", default: false },
      seed: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const all = await campaigns();
  if (values.list) {
    for (const { name, description } of all)
      process.stdout.write(`${name.padEnd(12)} ${description}\n`);
    return 0;
  }
  const campaign = all.find(({ name }) => name === positionals[0]);
  if (campaign === undefined)
    return usage(`There is no campaign called "${positionals[0] ?? ""}".`);
  const seed = Number(values.seed ?? Math.floor(Math.random() * seedMax));
  if (!Number.isInteger(seed) || seed < 0 || seed >= seedMax) {
    return usage(`--seed takes a whole number from 0 to ${seedMax - 1}.`);
  }
  await useCompiledPrograms();
  endWithParent();
  endWithRunner();
  const startedMs = performance.now();
  process.stderr.write(`${campaign.name} with --seed ${seed}\n`);
  const log = (line: string): boolean => process.stderr.write(`${line}\n`);
  const { violations, summary } = await campaign.run({ seed, log });
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  if (values.json) {
    const result = { name: campaign.name, seed, seconds, summary, violations };
    process.stdout.write(`${JSON.stringify(result)}\n`);
  } else {
    for (const violation of violations) process.stdout.write(`violation: ${violation}\n`);
    process.stdout.write(
      `${campaign.name} (seed ${seed}, ${seconds} s): ${summary}; ${violations.length} violations\n`,
    );
  }
  return violations.length === 0 ? 0 : 1;
}

process.exitCode = await main();
