/**
 * The barrels of the generated code: one module per entry of @trainyard/contracts, which exports all messages of its
 * packages. So a new message needs no line anywhere.
 */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The folders below the generated code that each entry exports. Within an entry the names of messages are unique. */
const entries = {
  api: ["google/api", "trainyard/api/v1", "trainyard/common/v1"],
  commands: ["trainyard/command/v1", "trainyard/common/v1"],
  errors: ["google/rpc"],
  events: ["trainyard/event/v1", "trainyard/common/v1"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Writes the barrels into the folder of the generated code. */
export async function writeBarrels(generated: string): Promise<void> {
  for (const [entry, folders] of Object.entries(entries)) {
    const lines: string[] = [];
    for (const folder of folders) {
      const files = await readdir(join(generated, folder));
      lines.push(...files.toSorted().map((file) => `export * from "./${folder}/${file}";\n`));
    }
    await writeFile(
      join(generated, `${entry}.ts`),
      `// Written by npm run generate.\n${lines.join("")}`,
    );
  }
}
