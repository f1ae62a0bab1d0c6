import { Command } from "commander";
import { expect, test } from "vitest";
import { addCommands, commandGroups } from "./command-groups.ts";

const wordsOf = (program: Command): readonly string[] =>
  program.commands.flatMap((command) => [command.name(), ...command.aliases()]).toSorted();

test("each first word loads the group that has its command", async () => {
  for (const { words } of commandGroups) {
    for (const word of words) {
      const program = new Command();
      await addCommands(program, word);
      expect(wordsOf(program)).toEqual([...words].toSorted());
    }
  }
});

test.each([undefined, "frobnicate", "--help"])(
  "the first word %s loads all groups",
  async (first) => {
    const program = new Command();
    await addCommands(program, first);
    expect(wordsOf(program)).toEqual(commandGroups.flatMap(({ words }) => words).toSorted());
  },
);
