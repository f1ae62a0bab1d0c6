import { describe, expect, it } from "vitest";
import { compiled, withCompiledNames } from "./compile.ts";
import { isVersion, pythonVersion, sectionOf } from "./notes.ts";
import { publishedManifest } from "./packages.ts";

const changelog =
  "# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.2.0 (2026-11-23)\n\n- Old.\n\n## 0.1.0\n";

describe("the notes of a release", () => {
  it("are the section of its version, and nothing of other sections", () => {
    expect(sectionOf(changelog, "0.2.0")).toBe("- Old.");
    expect(sectionOf(changelog, "Unreleased")).toBe("- New.");
  });

  it("are null for a version without a section, and for an empty section", () => {
    expect(sectionOf(changelog, "0.3.0")).toBe(null);
    expect(sectionOf(changelog, "0.1.0")).toBe(null);
    expect(sectionOf(changelog, "0.2")).toBe(null);
  });
});

describe("the version of a release", () => {
  it.each(["0.2.0", "1.0.0-rc.1", "10.20.30-b.4"])("%s is valid", (text) => {
    expect(isVersion(text)).toBe(true);
  });

  it.each(["", "v1.0.0", "1.0", "1.0.0-", "01.0.0", "1.0.0-dev", "1.0.0 "])(
    "%j is invalid",
    (text) => {
      expect(isVersion(text)).toBe(false);
    },
  );

  it("is converted to Python's form for the wheel", () => {
    expect(pythonVersion("1.0.0-rc.1")).toBe("1.0.0rc1");
    expect(pythonVersion("1.0.0")).toBe("1.0.0");
  });
});

describe("a compiled module", () => {
  it("has no types, unchanged line numbers, and compiled names of modules and programs", () => {
    const source =
      'import { x } from "./x.ts";\ntype A = {\n  b: number;\n};\nexport const y: A = x("../main.ts");\n';
    const lines = compiled(source).split("\n");
    expect(lines[0]).toBe('import { x } from "./x.js";');
    expect(lines[4]?.replace(/ +/g, " ")).toBe('export const y = x("../main.js");');
  });

  it("keeps strings that only mention a file", () => {
    expect(withCompiledNames('"see the file a.ts"')).toBe('"see the file a.ts"');
  });
});

describe("a published manifest", () => {
  const pinned = { pg: "8.0.0" };
  const one = (dependencies: Record<string, string>) => ({
    folder: "libs/x",
    manifest: {
      name: "@trainyard/x",
      exports: { ".": "./src/index.ts", "./testing": "./src/testing/index.ts" },
      dependencies,
    },
  });

  it("has versions in place of the workspace's specifiers, and no exports for tests", () => {
    const wanted = { "@trainyard/kernel": "workspace:*", pg: "catalog:" };
    expect(publishedManifest(one(wanted), "1.2.3", pinned)).toMatchObject({
      name: "@trainyard/x",
      version: "1.2.3",
      exports: { ".": { types: "./src/index.d.ts", default: "./src/index.js" } },
      dependencies: { "@trainyard/kernel": "1.2.3", pg: "8.0.0" },
    });
    expect(JSON.stringify(publishedManifest(one(wanted), "1.2.3", pinned))).not.toContain(
      "testing",
    );
  });

  it("throws for a package that the workspace does not pin", () => {
    expect(() => publishedManifest(one({ other: "catalog:" }), "1.2.3", pinned)).toThrow(
      "other is missing in the catalog of pnpm-workspace.yaml",
    );
  });
});
