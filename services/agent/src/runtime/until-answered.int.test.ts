import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { pythonIn } from "../supervisor/python.ts";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { untilAnswered } from "./until-answered.ts";

afterAll(removeFolders);

test("a path is a path, whatever it looks like: it answers, and nothing runs", async () => {
  const folder = newFolder();
  const [program, trace] = [join(folder, "program.py"), join(folder, "trace")];
  const code = `open(${JSON.stringify(trace)}, "w")`;
  writeFileSync(program, code);
  const paths = [`-c${code}`, "-", "--", "", folder, join(folder, "none"), program];
  const waits: string[] = [];
  const { signal } = new AbortController();
  await untilAnswered(pythonIn(), paths, (path) => waits.push(path), signal);
  expect({ ran: existsSync(trace), waits }).toEqual({ ran: false, waits: [] });
});
