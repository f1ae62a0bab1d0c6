import { spawnSync } from "node:child_process";
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { newFolder, removeFolders } from "../testing/examples.ts";

afterAll(removeFolders);

/** Root can write to every folder, so the agent's user is another one here. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

test("the folder of a run of the agent's own user is removed with its read-only folders, as of Go's modules", () => {
  const folder = newFolder();
  chmodSync(folder, 0o777);
  const made = `mkdir -p ${folder}/work/kept/go/mod && touch ${folder}/work/kept/go/mod/a && chmod -R a-w ${folder}/work/kept`;
  expect(spawnSync("sh", ["-c", made], nobody).status).toBe(0);
  const module = new URL("./remove-run.ts", import.meta.url).href;
  const program = `const { removeWorkOf } = await import(${JSON.stringify(module)});
await removeWorkOf(process.argv[1], null);`;
  const parameters = ["--input-type=module", "-e", program, folder];
  const removed = spawnSync(process.execPath, parameters, { ...nobody, encoding: "utf8" });
  expect(removed).toMatchObject({ status: 0, stderr: "" });
  expect(existsSync(join(folder, "work"))).toBe(false);
});
