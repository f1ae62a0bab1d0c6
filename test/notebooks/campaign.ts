import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { wholeAndParts } from "../../scripts/lib/campaigns.ts";
import { followedBoard } from "./followed-board.ts";
import { idleNotebook } from "./idle-notebook.ts";
import { movedNotebook } from "./moved-notebook.ts";
import { NotebookStage } from "./notebook-stage.ts";
import { partsOfNotebooks, troubledNotebook } from "./troubled-notebook.ts";

type Options = Parameters<Campaign["run"]>[0];
type Check = (options: Options) => Promise<readonly string[]>;

function part(name: string, description: string, check: Check): Campaign {
  const run = async (options: Options): ReturnType<Campaign["run"]> => ({
    violations: await check(options).catch((error: unknown) => [String(error)]),
    summary: name,
  });
  return { name: `notebooks-${name}`, description: `of notebooks: ${description}`, run };
}

/** A part takes two to four minutes. */
export const campaigns: readonly Campaign[] = wholeAndParts(
  "notebooks",
  "JupyterLab and TensorBoard in Chromium while each part is killed, and away for 60 s",
  [
    ...partsOfNotebooks.map((one) =>
      part(one, `a cell counts while ${one} dies`, async ({ log }) => {
        await using stage = await NotebookStage.start();
        return await troubledNotebook(stage, [one], log);
      }),
    ),
    part("idle", "an idle timeout over restarts of the agent", async ({ log }) => {
      await using stage = await NotebookStage.start();
      return await idleNotebook(stage, log);
    }),
    part("moved", "paused during an outage, resumed on the other agent", async (options) => {
      await using stage = await NotebookStage.start();
      return await movedNotebook(stage, options);
    }),
    part("board", "a TensorBoard follows a trial from S3", ({ log }) => followedBoard(log)),
  ],
);
