/**
 * A notebook in JupyterLab whose first cell counts aloud until it is let go, and whose second one shows the kernel's
 * process and variables. The kernel also writes each number to a file, which the page's output is compared with.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "@trainyard/local-cluster";
import type { Locator, Page, Request } from "playwright-core";
import { eventually } from "../world/eventually.ts";
import type { NotebookStage } from "./notebook-stage.ts";

/** Between two numbers there must be time to see the first one and to kill a process. */
const betweenNumbersMs = 2_000;
/** The time in which a page shows what it has missed: JupyterLab waits up to half a minute between two attempts. */
const shownMs = 120_000;

const counting = (folder: string): string => `
import os, time
lap = globals().get("lap", 0) + 1
number = globals().get("number", 0)
while not os.path.exists(f"${folder}/end-{lap}"):
    number += 1
    with open("${folder}/numbers", "a") as file:
        file.write(f"{number}\\n")
    print(number, end=" ", flush=True)
    time.sleep(${betweenNumbersMs / 1_000})
print("end", lap)
`;

const asking = `print("pid", os.getpid(), "lap", lap, "number", number)`;

const cell = (source: string, n: number): object => ({
  cell_type: "code",
  id: `cell-${n}`,
  execution_count: null,
  metadata: {},
  outputs: [],
  source: source.trim(),
});

export class CountingNotebook {
  readonly task: string;
  readonly #folder: string;
  readonly #page: Page;
  #lap = 0;
  /** The last number of the laps before. */
  #before = 0;
  #pid = "";

  private constructor(folder: string, task: string, page: Page) {
    this.#folder = folder;
    this.task = task;
    this.#page = page;
  }

  static async start(
    stage: NotebookStage,
    overrides: readonly string[],
  ): Promise<CountingNotebook> {
    const kernelspec = { name: "python3", display_name: "Python 3", language: "python" };
    const document = {
      ...{ nbformat: 4, nbformat_minor: 5 },
      metadata: { kernelspec },
      cells: [counting(stage.world.folder), asking].map(cell),
    };
    stage.world.write("notebook/count.ipynb", JSON.stringify(document));
    const task = await stage.notebook("notebook", overrides);
    const page = await stage.page(task);
    await page.goto(new URL("/lab/tree/count.ipynb", page.url()).href);
    // JupyterLab says that its server is away, and people dismiss it.
    const dialog = page.locator(".jp-Dialog");
    const dismiss = dialog.locator("button.jp-Dialog-button").last();
    await page.addLocatorHandler(dialog, () => dismiss.click());
    const notebook = new CountingNotebook(stage.world.folder, task, page);
    await notebook.#cell(1).waitFor();
    // JupyterLab ignores a cell that is run before the notebook has a kernel.
    await page
      .locator("#jp-main-statusbar")
      .getByText(/\| Idle/)
      .waitFor();
    return notebook;
  }

  /** Runs the first cell, and returns when its first number is shown. */
  async count(): Promise<void> {
    this.#lap += 1;
    await this.#run(0);
    await this.#until("a number is shown", async () => (await this.lastShown()) > this.#before);
  }

  /** Saves the document as a person does, with or without changes. */
  async save(): Promise<void> {
    const isSaved = (request: Request): boolean =>
      request.method() === "PUT" && new URL(request.url()).pathname.endsWith("/count.ipynb");
    const saved = this.#page.waitForResponse((response) => isSaved(response.request()));
    await this.#cell(1).locator(".cm-content").click();
    await this.#page.keyboard.press("Control+s");
    const status = (await saved).status();
    if (status !== 200) throw new Error(`saving the document of ${this.task}: ${status}`);
  }

  /** Returns when a number has just appeared, so that none is on its way. */
  async nextNumber(): Promise<void> {
    const last = await this.lastShown();
    await this.#until("the next number is shown", async () => (await this.lastShown()) > last);
  }

  /** The last number in the output of the first cell. */
  async lastShown(): Promise<number> {
    return numbersOf(await this.#output(0)).at(-1) ?? 0;
  }

  /** The last number that the kernel has counted. */
  get lastCounted(): number {
    const file = join(this.#folder, "numbers");
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
    return Number(lines.at(-1) ?? 0);
  }

  /** Waits until the page shows what is counted now. */
  async shows(number: number): Promise<readonly string[]> {
    return await this.#until(`${number} is shown`, async () => (await this.lastShown()) >= number)
      .then(() => [])
      .catch(() => this.#shownInstead(`does not show ${number}`));
  }

  /** Lets the first cell end, and runs the second one. Returns a sentence for each violation. */
  async endLap(): Promise<readonly string[]> {
    writeFileSync(join(this.#folder, `end-${this.#lap}`), "");
    const end = `end ${this.#lap}`;
    try {
      await this.#until(`${end} is shown`, async () => (await this.#output(0)).includes(end));
    } catch {
      return await this.#shownInstead(`does not show "${end}"`);
    }
    const found: string[] = [];
    const last = this.lastCounted;
    const numbers = numbersOf((await this.#output(0)).replace(end, ""));
    const wanted = Array.from({ length: last - this.#before }, (_, n) => this.#before + n + 1);
    if (numbers.join(" ") !== wanted.join(" ")) {
      found.push(`the page of ${this.task} shows ${numbers.join(" ")}, not ${wanted.join(" ")}`);
    }
    this.#before = last;
    return [...found, ...(await this.#answers())];
  }

  async #answers(): Promise<readonly string[]> {
    await this.#run(1);
    const rest = `lap ${this.#lap} number ${this.#before}`;
    try {
      await this.#until("it answers", async () => (await this.#output(1)).includes(rest));
    } catch {
      return [`a cell of ${this.task} shows "${await this.#output(1)}", not "${rest}"`];
    }
    const pid = /pid (\d+)/.exec(await this.#output(1))?.[1] ?? "";
    const isSame = this.#pid === "" || this.#pid === pid;
    const found = isSame ? [] : [`the kernel of ${this.task} is ${pid}, and was ${this.#pid}`];
    this.#pid = pid;
    return found;
  }

  /** Runs a cell as a person does. */
  async #run(n: number): Promise<void> {
    await this.#cell(n).locator(".cm-content").click();
    await this.#page.keyboard.press("Control+Enter");
  }

  async #output(n: number): Promise<string> {
    const outputs = this.#cell(n).locator(".jp-OutputArea-output");
    return (await outputs.allInnerTexts()).join("");
  }

  #cell(n: number): Locator {
    return this.#page.locator(".jp-Notebook .jp-CodeCell").nth(n);
  }

  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    await eventually(what, holds, shownMs);
  }

  async #shownInstead(what: string): Promise<readonly string[]> {
    const status = this.#page.locator(".jp-Notebook-ExecutionIndicator").first();
    const shown = await status.getAttribute("data-status").catch(() => null);
    await this.#page.screenshot({ path: join(checkout, ".cache/screenshots/notebook.png") });
    const output = await this.#output(0);
    return [
      `the page of ${this.task} ${what} within ${shownMs / 1_000} s, but "${output}" (${shown})`,
    ];
  }
}

const numbersOf = (output: string): readonly number[] =>
  [...output.matchAll(/\d+/g)].map(([digits]) => Number(digits));
