import type { Command } from "commander";

type Group = {
  /** The first words of its commands, with their short forms. */
  readonly words: readonly string[];
  readonly load: () => Promise<(program: Command) => void>;
};

/** The groups of commands, in the order of the help. */
export const commandGroups: readonly Group[] = [
  {
    words: ["experiment", "e"],
    load: async () => (await import("./commands/experiment.ts")).addExperimentCommands,
  },
  {
    words: ["trial", "t"],
    load: async () => (await import("./commands/trial.ts")).addTrialCommands,
  },
  {
    words: ["search", "s"],
    load: async () => (await import("./commands/search.ts")).addSearchCommands,
  },
  {
    words: ["checkpoint", "c"],
    load: async () => (await import("./commands/checkpoint.ts")).addCheckpointCommands,
  },
  {
    words: ["model", "m"],
    load: async () => (await import("./commands/model.ts")).addModelCommands,
  },
  {
    words: ["storage"],
    load: async () => (await import("./commands/storage.ts")).addStorageCommands,
  },
  { words: ["agent"], load: async () => (await import("./commands/agent.ts")).addAgentCommands },
  { words: ["pool"], load: async () => (await import("./commands/pool.ts")).addPoolCommands },
  { words: ["job"], load: async () => (await import("./commands/job.ts")).addJobCommands },
  {
    words: ["cmd", "command", "shell", "notebook", "tensorboard", "task"],
    load: async () => (await import("./commands/task.ts")).addTaskCommands,
  },
  {
    words: ["events", "parked", "version", "log"],
    load: async () => (await import("./commands/operations.ts")).addOperationCommands,
  },
  { words: ["token"], load: async () => (await import("./commands/token.ts")).addTokenCommands },
  {
    words: ["subscription", "webhook"],
    load: async () => (await import("./commands/subscription.ts")).addSubscriptionCommands,
  },
  { words: ["view"], load: async () => (await import("./commands/view.ts")).addViewCommands },
  {
    words: ["workspace", "w", "project", "p"],
    load: async () => (await import("./commands/workspace.ts")).addWorkspaceCommands,
  },
  {
    words: ["user", "whoami"],
    load: async () => (await import("./commands/user.ts")).addUserCommands,
  },
  { words: ["group"], load: async () => (await import("./commands/group.ts")).addGroupCommands },
  { words: ["role"], load: async () => (await import("./commands/role.ts")).addRoleCommands },
  {
    words: ["cluster"],
    load: async () => (await import("./commands/cluster.ts")).addClusterCommands,
  },
  {
    words: ["login", "logout"],
    load: async () => (await import("./commands/login.ts")).addLoginCommands,
  },
  { words: ["ui"], load: async () => (await import("./commands/ui.ts")).addUiCommand },
];

/**
 * Adds the group that the first word names, or all: for the help, and for a word that none has. To load all groups
 * takes longer than most commands.
 */
export async function addCommands(program: Command, first: string | undefined): Promise<void> {
  const named = commandGroups.filter(({ words }) => words.includes(first ?? ""));
  for (const { load } of named.length > 0 ? named : commandGroups) (await load())(program);
}
