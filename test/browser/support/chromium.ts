import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { notRun } from "../../world/torch.ts";

type Found = { readonly program: string } | { readonly program: null; readonly why: string };

/** The names under which distributions install Chromium, or a browser with the same interface. */
const names = ["chromium", "chromium-browser", "google-chrome"];

/** Finds the program of TRAINYARD_CHROMIUM, else the distribution's Chromium on PATH. */
export function findChromium(environment: NodeJS.ProcessEnv = process.env): Found {
  const named = environment["TRAINYARD_CHROMIUM"];
  if (named !== undefined && named !== "") {
    if (existsSync(named)) return { program: named };
    return { program: null, why: `the file ${named}, which TRAINYARD_CHROMIUM names` };
  }
  const folders = (environment["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const programs = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const program = programs.find((path) => existsSync(path));
  if (program !== undefined) return { program };
  return { program: null, why: "chromium, from the distribution or named by TRAINYARD_CHROMIUM" };
}

/** Returns the browser's program. Without a browser the test is skipped, or fails with TRAINYARD_REQUIRE=browser. */
export function needChromium(skip: (note: string) => never): string {
  const found = findChromium();
  if (found.program !== null) return found.program;
  const required = (process.env["TRAINYARD_REQUIRE"] ?? "").split(",").includes("browser");
  if (required) {
    throw new Error(`TRAINYARD_REQUIRE names browser, but no Chromium was found: ${found.why}`);
  }
  return notRun(skip, found.why);
}
