import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { untilAnswered } from "./until-answered.ts";

afterAll(removeFolders);

test("a path is a path, whatever it looks like: it answers, and nothing runs", async () => {
  const folder = newFolder();
  const [program, trace] = [join(folder, "program.cjs"), join(folder, "trace")];
  writeFileSync(program, `require("node:fs").writeFileSync(${JSON.stringify(trace)}, "")`);
  const paths = [`--require=${program}`, "-r", "--", "", folder, join(folder, "none"), program];
  const waits: string[] = [];
  const { signal } = new AbortController();
  await untilAnswered(paths, (path) => waits.push(path), signal);
  expect({ ran: existsSync(trace), waits }).toEqual({ ran: false, waits: [] });
});
