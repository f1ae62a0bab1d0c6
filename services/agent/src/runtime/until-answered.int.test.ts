import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { pythonIn } from "../supervisor/python.ts";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { sayOnce, untilAnswered } from "./until-answered.ts";

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

test("a host without Python is named with what needs it", async () => {
  const { signal } = new AbortController();
  const waiting = untilAnswered(["/no/python"], ["/"], () => {}, signal);
  await expect(waiting).rejects.toMatchObject({
    name: "HostProblem",
    message: expect.stringContaining("needs Python 3 on this host"),
  });
});

test("a launch that waits twice for a folder says so once", () => {
  const said: string[] = [];
  const waits = sayOnce((text) => void said.push(text), "rack");
  for (const folder of ["/a", "/b", "/a"]) waits(folder);
  expect(said).toEqual([
    "the launch waits for /a, which does not answer on agent rack",
    "the launch waits for /b, which does not answer on agent rack",
  ]);
});
