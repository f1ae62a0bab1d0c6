import { cutDownload } from "./cut-download.ts";
import { escapedProcess } from "./escaped-process.ts";
import { forgedDocument } from "./forged-document.ts";
import { largeEndRecords } from "./end-record.ts";
import { frozenAgents } from "./frozen-agents.ts";
import { hangingMount } from "./hanging-mount.ts";
import { linkedFolder } from "./linked-folder.ts";
import { packedBomb } from "./bomb.ts";
import { powerCut } from "./power-cut.ts";
import type { Scenario } from "./scenario.ts";
import { secondAgent } from "./second-agent.ts";
import { unmountedStorage } from "./unmounted-storage.ts";

export const scenarios: readonly Scenario[] = [
  ...largeEndRecords,
  forgedDocument,
  cutDownload,
  packedBomb,
  linkedFolder,
  escapedProcess,
  secondAgent,
  unmountedStorage,
  powerCut,
  hangingMount,
  frozenAgents,
];
