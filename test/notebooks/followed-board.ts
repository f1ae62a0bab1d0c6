/** A TensorBoard in the browser follows a running trial, whose files are in S3, while its agent and the gateway die. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { S3Server } from "@trainyard/testing/s3";
import type { Page } from "playwright-core";
import { eventually } from "../world/eventually.ts";
import { NotebookStage } from "./notebook-stage.ts";

const user = { accessKeyId: "platform", secretAccessKey: "the-secret-of-the-platform-in-s3" };
/** The trial sends its files every 10 s, the agent looks for new ones every 30 s, and TensorBoard every 5 s. */
const shownMs = 120_000;

const config = (url: string): string => `
name: followed
entrypoint: python3 train.py
hyperparameters: { lr: 0.5 }
searcher: { name: single, metric: loss }
checkpoint_storage: { type: s3, bucket: models, prefix: team/a, endpoint_url: "${url}" }
`;

/** Returns a sentence for each violation. */
export async function followedBoard(log: (line: string) => void): Promise<readonly string[]> {
  await using s3 = await S3Server.start({ buckets: ["models"], users: [user] });
  await using stage = await startedWith(s3);
  const { world } = stage;
  const experiment = await world.submit(config(s3.url), world.code("mirrored"));
  await world.untilTrials(experiment, ([trial]) => (trial?.stepsCompleted ?? 0) >= 6);
  const request = { kind: "tensorboard", sources: [experiment] };
  const { task } = await world.client.call("createTask", request);
  await stage.untilTask(task?.id ?? "", "RUNNING");
  const page = await stage.page(task?.id ?? "");
  const { runs } = await world.client.call("getTask", { task: task?.id ?? "" });
  const violations: string[] = [];
  let shown = 0;
  for (const part of [null, "gateway", runs[0]?.placements[0]?.agent ?? ""]) {
    if (part !== null) {
      await world.kill(part);
      await world.restart(part);
    }
    const [trial] = (await world.client.call("listTrials", { experiment })).items;
    const step = trial?.stepsCompleted ?? 0;
    const isShown = async (): Promise<boolean> => (shown = await lastStep(page)) >= step;
    const when = part === null ? "at first" : `after kill -9 ${part}`;
    await eventually(`step ${step} is shown`, isShown, shownMs).catch((error: unknown) => {
      violations.push(`${when} it shows step ${shown}, not ${step}: ${String(error)}`);
    });
    log(`${when} it showed step ${shown} of ${step}`);
  }
  return violations;
}

async function startedWith(s3: S3Server): Promise<NotebookStage> {
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = user;
  const file = join(mkdtempSync(join(tmpdir(), "ty-storage-")), "credentials.json");
  const text = JSON.stringify({ s3: { access_key_id, secret_access_key } });
  writeFileSync(file, text, { mode: 0o600 });
  process.env["TRAINYARD_STORAGE_CREDENTIALS"] = file;
  process.env["TRAINYARD_STORAGE_ENDPOINTS"] = s3.url;
  return await NotebookStage.start({
    storage: { address: "s3://models/team/a", endpoint: s3.url },
  });
}

/** The last step of the chart of the loss, as TensorBoard's own page asks for it. */
async function lastStep(page: Page): Promise<number> {
  const steps = await page.evaluate(async () => {
    const read = async (path: string): Promise<unknown> =>
      await (await fetch(`/data/plugin/scalars/${path}`)).json();
    const tags = (await read("tags")) as Readonly<Record<string, Readonly<Record<string, object>>>>;
    const found = Object.entries(tags).flatMap(([run, ofRun]) =>
      Object.keys(ofRun).map((tag) => ({ run, tag })),
    );
    const lasts = found.map(async ({ run, tag }) => {
      const query = new URLSearchParams({ run, tag }).toString();
      const points = (await read(`scalars?${query}`)) as readonly (readonly number[])[];
      return points.at(-1)?.[1] ?? 0;
    });
    return await Promise.all(lasts);
  });
  return Math.max(0, ...steps);
}
