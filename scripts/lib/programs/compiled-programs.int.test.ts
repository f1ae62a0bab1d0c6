import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { programFile } from "@trainyard/kernel/program-file";
import { afterEach, describe, expect, it } from "vitest";
import { root } from "../root.ts";
import { compiledPrograms } from "./compiled-programs.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "ty-programs-"));
  folders.push(folder);
  return folder;
}

const earlier = new Date("2026-01-01T00:00:00Z");

/** A checkout with one source, which is compiled into a program and a chunk with the text of the source. */
function newCheckout(text = "one") {
  const checkout = newFolder();
  const source = join(checkout, "services/a/src/main.ts");
  let compilations = 0;
  const edit = (edited: string, time = earlier): void => {
    mkdirSync(join(source, ".."), { recursive: true });
    writeFileSync(source, edited);
    utimesSync(source, time, time);
  };
  edit(text);
  const compile = async (folder: string, onRead: (path: string) => void): Promise<void> => {
    compilations += 1;
    onRead(source);
    const now = readFileSync(source, "utf8");
    mkdirSync(join(folder, "services/a/src"), { recursive: true });
    mkdirSync(join(folder, "shared"));
    writeFileSync(join(folder, "services/a/src/main.js"), now);
    writeFileSync(join(folder, "shared", `chunk-${now}.js`), now);
  };
  return {
    checkout,
    source,
    edit,
    compile,
    compiled: () => compiledPrograms(checkout, compile),
    compilations: () => compilations,
  };
}

const programIn = (folder: string): string =>
  readFileSync(join(folder, "services/a/src/main.js"), "utf8");

describe("compiled programs", () => {
  it("are compiled once for the same sources", async () => {
    const { compiled, compilations } = newCheckout();
    expect(programIn(await compiled())).toBe("one");
    await compiled();
    expect(compilations()).toBe(1);
  });

  it("are compiled again after a source has changed, in its time or its size", async () => {
    const { compiled, edit, compilations } = newCheckout();
    await compiled();
    edit("two", new Date("2026-01-02T00:00:00Z"));
    expect(programIn(await compiled())).toBe("two");
    edit("three");
    expect(programIn(await compiled())).toBe("three");
    expect(compilations()).toBe(3);
  });

  it("are compiled again after a source was deleted", async () => {
    const { checkout, compiled, source } = newCheckout();
    await compiled();
    rmSync(source);
    const again = newCheckout("another");
    await compiledPrograms(checkout, again.compile);
    expect(again.compilations()).toBe(1);
  });

  it.each(["2025-12-31T00:00:00Z", "2036-01-01T00:00:00Z"])(
    "are compiled again by the next call, and only by it, if a source gets the time %s while they are compiled",
    async (time) => {
      const { checkout, compile, edit, compilations } = newCheckout();
      await compiledPrograms(checkout, async (folder, onRead) => {
        await compile(folder, onRead);
        edit("two", new Date(time));
      });
      expect(programIn(await compiledPrograms(checkout, compile))).toBe("two");
      await compiledPrograms(checkout, compile);
      expect(compilations()).toBe(2);
    },
  );

  it("are compiled once for several calls at the same time", async () => {
    const { checkout, compile, compilations } = newCheckout();
    const slowly = async (folder: string, onRead: (path: string) => void): Promise<void> => {
      await compile(folder, onRead);
      await delay(200);
    };
    await Promise.all([1, 2, 3].map(() => compiledPrograms(checkout, slowly)));
    expect(compilations()).toBe(1);
  });

  it("are compiled again after the checkout was moved, since they contain its path", async () => {
    const { checkout, compiled, compilations } = newCheckout();
    await compiled();
    const moved = join(newFolder(), "moved");
    cpSync(checkout, moved, { recursive: true, preserveTimestamps: true });
    const again = newCheckout();
    await compiledPrograms(moved, again.compile);
    expect([compilations(), again.compilations()]).toEqual([1, 1]);
  });

  it("are compiled again if the list of their sources is damaged", async () => {
    const { compiled, compilations } = newCheckout();
    writeFileSync(join(await compiled(), "sources.json"), "[[");
    await compiled();
    expect(compilations()).toBe(2);
  });

  it.each(["services/a/src/main.js", "shared/chunk-one.js"])(
    "are compiled again after their file %s was deleted",
    async (file) => {
      const { compiled, compilations } = newCheckout();
      rmSync(join(await compiled(), file));
      const folder = await compiled();
      expect(compilations()).toBe(2);
      expect(existsSync(join(folder, file))).toBe(true);
    },
  );

  it("keep older chunks for processes that run, and remove them after a month", async () => {
    const { compiled, edit } = newCheckout();
    const shared = join(await compiled(), "shared");
    edit("two");
    edit("second");
    await compiled();
    expect(readdirSync(shared).toSorted()).toEqual(["chunk-one.js", "chunk-second.js"]);
    const old = new Date(Date.now() - 31 * 24 * 3_600_000);
    utimesSync(join(shared, "chunk-one.js"), old, old);
    const killed = join(shared, "..", ".draft");
    mkdirSync(killed);
    edit("the third");
    await compiled();
    expect(readdirSync(shared).toSorted()).toEqual(["chunk-second.js", "chunk-the third.js"]);
    expect(existsSync(killed)).toBe(false);
  });

  it("stay as they are if a compilation fails, and nothing of it remains", async () => {
    const { checkout, compiled, edit } = newCheckout();
    const folder = await compiled();
    edit("other");
    const broken = async (draft: string): Promise<void> => {
      writeFileSync(join(draft, "half.js"), "");
      throw new Error("unexpected token");
    };
    await expect(compiledPrograms(checkout, broken)).rejects.toThrow("unexpected token");
    expect(programIn(folder)).toBe("one");
    expect(existsSync(join(folder, ".draft"))).toBe(false);
  });
});

/** The modules that are given to `WorkerCall`. */
const workerThreads = (): readonly string[] =>
  globSync("services/*/src/**/*.ts", { cwd: root }).filter((path) =>
    /\banswerCalls[<(]/.test(readFileSync(join(root, path), "utf8")),
  );

describe("the programs of this checkout", () => {
  it("run compiled in a test run, and their worker threads, too", () => {
    const programs = [
      "services/*/src/{main,service,config}.ts",
      "services/cli/demo/main.ts",
      "services/agent/src/supervisor/main.ts",
      "libs/migrate/src/main.ts",
      "deploy/local/src/supervisor/{main,all-main}.ts",
    ];
    const sources = [...globSync(programs, { cwd: root }), ...workerThreads()];
    expect(sources.length).toBeGreaterThan(30);
    const uncompiled = sources.filter((path) => {
      const source = join(root, path);
      return programFile(source) === source;
    });
    expect(uncompiled).toEqual([]);
  });

  const { version } = JSON.parse(readFileSync(join(root, "services/cli/package.json"), "utf8"));

  it("find the files beside their sources", () => {
    const yard = programFile(join(root, "services/cli/src/main.ts"));
    const said = execFileSync(process.execPath, [yard, "--version"], { encoding: "utf8" });
    expect(said.trim()).toBe(version);
  });

  it("are what npm run yard starts", () => {
    const call = ["run", "-s", "yard", "--", "--version"];
    const said = execFileSync("npm", call, { cwd: root, encoding: "utf8" });
    expect(said.trim()).toBe(version);
  });
});

describe("programFile", () => {
  const source = join(root, "services/cli/src/main.ts");

  it("is the source without a folder of compiled programs", () => {
    expect(programFile(source, "")).toBe(source);
  });

  it("is the source if the folder has no such program", () => {
    expect(programFile(source, newFolder())).toBe(source);
  });
});
