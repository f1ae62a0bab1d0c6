/** The commands ListViews and RebuildView, which every service with a partition answers. */
import type { Plain } from "@trainyard/contracts";
import type { ViewState } from "@trainyard/contracts/commands";
import { reject } from "@trainyard/kernel";
import type { CommandTable } from "../commands/commands.ts";
import type { View } from "./view.ts";

export function viewCommands(views: readonly View[]) {
  return {
    ListViews: async () => ({
      views: await Promise.all(views.map(shownView)),
    }),
    RebuildView: async ({ view: name }) => {
      const view = views.find(({ spec }) => spec.view === name);
      if (view === undefined) {
        return reject(
          "view_not_found",
          `it has no read model ${name}; \`yard view list\` shows them`,
        );
      }
      view.rebuild();
      return { position: view.position, stream: "" };
    },
  } satisfies Partial<CommandTable<"common">>;
}

export async function shownView(view: View): Promise<Plain<ViewState>> {
  const { caughtUpOnce, buildingAt, setAside, ...state } = await view.state();
  return {
    view: view.spec.view,
    ...state,
    caughtUp: caughtUpOnce,
    ...(buildingAt === null ? {} : { buildingAt }),
    setAside: setAside.map(({ atMs, ...row }) => ({ ...row, setAsideAtMs: atMs })),
  };
}
