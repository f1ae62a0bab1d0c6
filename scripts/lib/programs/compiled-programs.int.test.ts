import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
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
  const compile = async (folder: string): Promise<readonly string[]> => {
    compilations += 1;
    const now = readFileSync(source, "utf8");
    mkdirSync(join(folder, "services/a/src"), { recursive: true });
    mkdirSync(join(folder, "shared"));
    writeFileSync(join(folder, "services/a/src/main.js"), now);
    writeFileSync(join(folder, "shared", `chunk-${now}.js`), now);
    return [source];
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
    let compilations = 0;
    await compiledPrograms(checkout, async (folder) => {
      compilations += 1;
      mkdirSync(join(folder, "shared"));
      return [];
    });
    expect(compilations).toBe(1);
  });

  it("are compiled again by the next call if a source changes while they are compiled", async () => {
    const { checkout, compile, edit, compilations } = newCheckout();
    const meanwhile = async (folder: string): Promise<readonly string[]> => {
      const sources = await compile(folder);
      edit("two", new Date(Date.now() + 1_000));
      return sources;
    };
    expect(programIn(await compiledPrograms(checkout, meanwhile))).toBe("one");
    expect(programIn(await compiledPrograms(checkout, compile))).toBe("two");
    expect(compilations()).toBe(2);
  });

  it("are compiled again after the checkout was moved, since they contain its path", async () => {
    const { checkout, compiled, compilations } = newCheckout();
    await compiled();
    const moved = join(newFolder(), "moved");
    cpSync(checkout, moved, { recursive: true, preserveTimestamps: true });
    let again = 0;
    await compiledPrograms(moved, async (folder) => {
      again += 1;
      mkdirSync(join(folder, "shared"));
      return [];
    });
    expect([compilations(), again]).toEqual([1, 1]);
  });

  it("are compiled again if the list of their sources is damaged", async () => {
    const { compiled, compilations } = newCheckout();
    writeFileSync(join(await compiled(), "sources.json"), "[[");
    await compiled();
    expect(compilations()).toBe(2);
  });

  it("keep older chunks for processes that run, and remove them and killed compilations after a month", async () => {
    const { compiled, edit } = newCheckout();
    const shared = join(await compiled(), "shared");
    edit("two");
    edit("second");
    await compiled();
    expect(readdirSync(shared).toSorted()).toEqual(["chunk-one.js", "chunk-second.js"]);
    const old = new Date(Date.now() - 31 * 24 * 3_600_000);
    utimesSync(join(shared, "chunk-one.js"), old, old);
    const killed = join(shared, "..", ".draft-killed");
    mkdirSync(killed);
    utimesSync(killed, old, old);
    edit("the third");
    await compiled();
    expect(readdirSync(shared).toSorted()).toEqual(["chunk-second.js", "chunk-the third.js"]);
    expect(existsSync(killed)).toBe(false);
  });

  it("stay as they are if a compilation fails, and nothing of it remains", async () => {
    const { checkout, compiled, edit } = newCheckout();
    const folder = await compiled();
    edit("other");
    const broken = async (draft: string): Promise<readonly string[]> => {
      writeFileSync(join(draft, "half.js"), "");
      throw new Error("unexpected token");
    };
    await expect(compiledPrograms(checkout, broken)).rejects.toThrow("unexpected token");
    expect(programIn(folder)).toBe("one");
    expect(readdirSync(folder).toSorted()).toEqual(["services", "shared", "sources.json"]);
  });
});

describe("the programs of this checkout", () => {
  it("run compiled in a test run, each of them", () => {
    const programs = readdirSync(join(root, "services"))
      .map((name) => join(root, "services", name, "src", "main.ts"))
      .filter((main) => existsSync(main));
    expect(programs.filter((main) => programFile(main) === main)).toEqual([]);
    expect(programs.length).toBeGreaterThan(10);
  });

  it("find the files beside their sources", () => {
    const yard = programFile(join(root, "services/cli/src/main.ts"));
    const said = execFileSync(process.execPath, [yard, "--version"], { encoding: "utf8" });
    const { version } = JSON.parse(readFileSync(join(root, "services/cli/package.json"), "utf8"));
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
