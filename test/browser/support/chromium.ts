import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { absent, notRun } from "@trainyard/testing/needs";

type Found = { readonly program: string } | { readonly program: null; readonly why: string };

/**
 * The names under which distributions install Chromium, or a browser with the same interface. The first has no windows,
 * only pages, which takes less processor time.
 */
const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** Features that Playwright disables. Chromium reads only the last list of its command line, so they are repeated. */
const disabledByPlaywright = [
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];

/**
 * Features that cost processor time and show nothing in a page. Each window loads two pages of its own for the popup of
 * the address bar, of some two hundred scripts, and each navigation starts a renderer in advance.
 */
const disabledHere = [
  "SpareRendererForSitePerProcess",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "WebUIOmniboxPopup",
];

/** The options of Chromium's command line for the tests, beside those of Playwright. */
export function chromiumOptions(): string[] {
  const disabled = [...disabledByPlaywright, ...disabledHere].join(",");
  const options = [
    `--disable-features=${disabled}`,
    // Frames are drawn by the processor on every machine; without this option Chromium imitates a GPU where none is.
    "--disable-gpu",
  ];
  return process.getuid?.() === 0 ? [...options, "--no-sandbox"] : options;
}

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
  return notRun(skip, absent("browser", found.why));
}
