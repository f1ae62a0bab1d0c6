import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { apiDocuments, apiSurface } from "./api-documents/documents.ts";
import { writeBarrels } from "./barrels.ts";
import { eventsPage } from "./events-page/page.ts";
import { readProtocol } from "./events-page/protocol.ts";
import { runningCode } from "./events-page/readers.ts";
import { root } from "./root.ts";
import { runTool, type ToolResult } from "./run-tool.ts";

export const generatedFolder = "libs/contracts/src/gen";
/** The protocol of the last release; `npm run generate -- --release` replaces it. */
export const releasedImage = "proto/released.binpb";

/** Generates the code of proto/ and its barrels into a folder, by default into the checkout. */
export async function generate(into = root): Promise<ToolResult> {
  const result = await runTool("buf", ["generate", "--output", into]);
  if (result.code === 0) await writeBarrels(join(into, generatedFolder));
  return result;
}

/** The path of the page of all events. */
export const eventsPath = "docs/events.md";

/** Writes the page of events, from the generated code. */
export async function generateEventsPage(): Promise<ToolResult> {
  writeFileSync(join(root, eventsPath), await freshEventsPage());
  return { code: 0, output: "", stdout: "" };
}

/** Compares the committed page of events with a freshly generated one. */
export async function compareEventsPage(committed = join(root, eventsPath)): Promise<Comparison> {
  const isFresh =
    existsSync(committed) && readFileSync(committed, "utf8") === (await freshEventsPage());
  return { seen: 1, problems: isFresh ? [] : [`${eventsPath} is not what is generated`] };
}

/** Writes the documents of the API beside the code that serves them. */
export async function generateApiDocuments(): Promise<ToolResult> {
  for (const { path, text } of await apiDocuments()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return { code: 0, output: "", stdout: "" };
}

/** Compares the committed documents of the API with freshly generated ones. */
export async function compareApiDocuments(checkout = root): Promise<Comparison> {
  const documents = await apiDocuments();
  const problems = documents
    .filter(({ path, text: fresh }) => {
      const committed = join(checkout, path);
      return !existsSync(committed) || readFileSync(committed, "utf8") !== fresh;
    })
    .map(({ path }) => `${path} is not what is generated`);
  return { seen: documents.length, problems };
}

/** Imports the catalogue late: `generate` may have just rewritten its code. */
async function freshEventsPage(): Promise<string> {
  const catalogue = await import("@trainyard/contracts");
  return eventsPage(catalogue, await readProtocol(), runningCode());
}

/** The released surface of the API's documents. */
export const releasedSurface = "proto/released-documents.txt";

/** Freezes the current protocol as released: `buf breaking` and a test compare with it from then on. */
export function release(): Promise<ToolResult> {
  writeFileSync(join(root, releasedSurface), `${apiSurface().join("\n")}\n`);
  return runTool("buf", ["build", "proto", "--exclude-source-info", "--output", releasedImage]);
}

export type Comparison = { readonly seen: number; readonly problems: readonly string[] };

/** Compares the committed code with freshly generated code. */
export async function compareGenerated(
  committed = join(root, generatedFolder),
): Promise<Comparison> {
  const folder = await mkdtemp(join(tmpdir(), "trainyard-generate-"));
  try {
    const { code, output } = await generate(folder);
    if (code !== 0) return { seen: 0, problems: [output] };
    return await compareFolders(join(folder, generatedFolder), committed);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function compareFolders(fresh: string, committed: string): Promise<Comparison> {
  const [wanted, present] = await Promise.all([filesIn(fresh), filesIn(committed)]);
  const problems = [
    ...wanted.filter((path) => !present.includes(path)).map((path) => `${path} is missing`),
    ...present.filter((path) => !wanted.includes(path)).map((path) => `${path} is left over`),
    ...wanted
      .filter((path) => present.includes(path))
      .filter((path) => text(fresh, path) !== text(committed, path))
      .map((path) => `${path} is not what proto/ generates`),
  ];
  return { seen: wanted.length, problems };
}

function text(folder: string, path: string): string {
  return readFileSync(join(folder, path), "utf8");
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}
