/** Reads the commands in the pages for people, of which each has to be one that yard runs. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { addCommands } from "./command-groups.ts";

const docs = join(import.meta.dirname, "../../../docs");

/** Returns the commands of a page: in a line of an example, or quoted in a sentence, possibly over two lines. */
const commandsIn = (page: string): readonly string[] =>
  [...page.matchAll(/(?:^(?:\$ )?|`)yard ((?:[^`\n#|;]|\n(?=[^`\n]*`))*)/gm)].map(
    ([, words = ""]) => words.trim().replace(/^-o json /, ""),
  );

/** Whether the words name a command, and not only a group of commands without options of its own. */
function runs(program: Command, words: readonly string[]): boolean {
  const [first = "", ...others] = words;
  if (program.commands.length === 0 || program.options.length > 0) return true;
  const next = program.commands.find(
    (command) => command.name() === first || command.aliases().includes(first),
  );
  return next !== undefined && runs(next, others);
}

test("each command that a page for people names is one that yard runs", async () => {
  const program = new Command();
  await addCommands(program, undefined);
  const pages = readdirSync(docs, { recursive: true, encoding: "utf8" }).filter(
    (page) => page.endsWith(".md") && !page.startsWith("adr/"),
  );
  const named = pages.flatMap((page) =>
    commandsIn(readFileSync(join(docs, page), "utf8")).map((command) => ({ page, command })),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ command }) => !runs(program, command.split(/\s+/)))).toEqual([]);
});
