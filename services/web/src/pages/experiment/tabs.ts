/** The tabs of an experiment's page: one line and one file each. A tab's content gets the experiment's document. */
import type { ReplyOf } from "@trainyard/contracts";
import { type ComponentType, lazy } from "react";

export type Experiment = ReplyOf<"getExperiment">;
export type TabProps = { readonly experiment: Experiment };

export type ExperimentTab = {
  readonly id: string;
  readonly title: string;
  readonly Content: ComponentType<TabProps>;
};

export const tabs: readonly ExperimentTab[] = [
  tab("overview", "Overview", async () => (await import("./overview-tab.tsx")).OverviewTab),
  tab("trials", "Trials", async () => (await import("./trials-tab.tsx")).TrialsTab),
  tab("search", "Search", async () => (await import("./search-tab.tsx")).SearchTab),
  tab(
    "checkpoints",
    "Checkpoints",
    async () => (await import("./checkpoints-tab.tsx")).CheckpointsTab,
  ),
  tab(
    "configuration",
    "Configuration",
    async () => (await import("./configuration-tab.tsx")).ConfigurationTab,
  ),
  tab("code", "Code", async () => (await import("./code-tab.tsx")).CodeTab),
  tab("logs", "Logs", async () => (await import("./logs-tab.tsx")).LogsTab),
  tab("tasks", "Tasks", async () => (await import("./tasks-tab.tsx")).TasksTab),
  tab("notes", "Notes", async () => (await import("./notes-tab.tsx")).NotesTab),
];

/** Defines a tab whose content is loaded when it is opened. */
function tab(
  id: string,
  title: string,
  load: () => Promise<ComponentType<TabProps>>,
): ExperimentTab {
  return { id, title, Content: lazy(async () => ({ default: await load() })) };
}
