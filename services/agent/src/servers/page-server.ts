/**
 * The server of a task's page until it answers: the run counts as prepared until then. Meanwhile the agent installs the
 * packages that the server's program asks for (page_server.py), and ends a run whose server does not come in time.
 */
import { existsSync } from "node:fs";
import { recordedTask } from "@trainyard/experiment-config/recorded";
import { type Clock, pause } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import { textOf } from "../state/layout.ts";
import { lastTextsOf } from "../state/last-texts.ts";
import { readRunFile } from "../state/run-file.ts";
import type { RunFolder } from "../state/run-folder.ts";
import { isPageKind, type PageKind } from "./kinds.ts";
import { NoPackages, type Packages, packageFolders, serverNames } from "./packages.ts";
import { packagesRootOf } from "./command.ts";
import { askUse } from "./server-use.ts";

export type PageServerDeps = {
  readonly folder: RunFolder;
  readonly packages: Packages;
  readonly clock: Clock;
  /** Writes a line to the run's log. */
  readonly note: (line: string) => void;
  /** Ends the run as failed, for this reason. */
  readonly fail: (reason: string) => void;
};

/** The file by which page_server.py asks for packages. */
const wantedName = "packages.json";

export class PageServer {
  readonly #deps: PageServerDeps;
  readonly #kind: PageKind | null;
  #isReady: boolean;
  #steps = 0;

  constructor(deps: PageServerDeps) {
    this.#deps = deps;
    const kind = deps.folder.launch.task?.kind ?? "";
    this.#kind = isPageKind(kind) ? kind : null;
    this.#isReady = this.#kind === null || deps.folder.isReady;
  }

  /** Whether the server has answered once, or the run has none. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** A number that rises while the server is prepared. */
  get progress(): number {
    return this.#steps;
  }

  /** Waits for the server from the start of the run's processes. Calls back once it answers. */
  async follow(onReady: () => void, signal: AbortSignal): Promise<void> {
    const { folder, clock, fail } = this.#deps;
    if (this.#isReady || this.#kind === null) return;
    while (folder.process === null && !signal.aborted) await pause(clock, limits.lookMs, signal);
    const { task, config } = folder.launch;
    const timeoutMs =
      recordedTask(JSON.parse(config), task?.kind ?? "").readyTimeoutSeconds * 1_000;
    let sinceMs = clock.monotonicMs();
    while (!signal.aborted && folder.exit === null && folder.kill === null) {
      if (await this.#answers(signal)) {
        folder.recordReady();
        this.#isReady = true;
        return onReady();
      }
      this.#steps += 1;
      // The time for the packages does not count: the network may be slow.
      if (await this.#installed(this.#kind)) sinceMs = clock.monotonicMs();
      if (clock.monotonicMs() - sinceMs >= timeoutMs) return fail(this.#late(timeoutMs));
      await pause(clock, limits.serverLookMs, signal);
    }
  }

  async #answers(signal: AbortSignal): Promise<boolean> {
    try {
      await askUse(this.#deps.folder, signal);
      return true;
    } catch {
      return false;
    }
  }

  /** Returns whether packages were installed that the server waited for. */
  async #installed(kind: PageKind): Promise<boolean> {
    const { folder, packages, note, fail, clock } = this.#deps;
    const python = wantedIn(folder.runDir);
    const path = python === null ? undefined : packageFolders(packagesRootOf(folder), kind)[python];
    if (python === null || path === undefined || existsSync(path)) return false;
    let saidMs = clock.monotonicMs();
    try {
      await packages.build(kind, python, (ready, of) => {
        this.#steps += 1;
        if (clock.monotonicMs() - saidMs < limits.packagesSaidMs) return;
        saidMs = clock.monotonicMs();
        note(`${serverNames[kind]}: ${ready} of ${of} packages are here`);
      });
      return true;
    } catch (error) {
      const name = serverNames[kind];
      const told = error instanceof NoPackages ? "" : `the agent could not install ${name}: `;
      fail(`${told}${textOf(error)}; name an image, or a Python, that has ${name}`);
      return false;
    }
  }

  #late(timeoutMs: number): string {
    const lines = lastTextsOf(this.#deps.folder.path, limits.lateLinesMax);
    const said = lines.length === 0 ? "it wrote no line" : `its last lines: ${lines.join(" | ")}`;
    return `the server did not answer within ${timeoutMs / 1_000} s (ready_timeout); ${said}`;
  }
}

function wantedIn(runDir: string): string | null {
  const written = readRunFile(runDir, wantedName, limits.wantedPackagesBytesMax);
  if (written === null || typeof written === "number") return null;
  try {
    const { python } = JSON.parse(written.toString("utf8")) as { readonly python?: unknown };
    return typeof python === "string" ? python : null;
  } catch {
    return null;
  }
}
