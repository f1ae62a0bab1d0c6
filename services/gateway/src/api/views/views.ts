/** The calls about read models: the gateway's views, and those of other services, which answer over the bus. */
import type { Plain } from "@trainyard/contracts";
import type { View } from "@trainyard/contracts/api";
import type { ViewState } from "@trainyard/contracts/commands";
import { services } from "@trainyard/kernel/services";
import { shownView } from "@trainyard/runtime";
import type { Backend } from "../../backend.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";

const own = "gateway";
/** The other services that have views in tables. */
const keepers = services
  .filter(({ name, keepsViews }) => keepsViews && name !== own)
  .map(({ name }) => name)
  .toSorted();

export function viewHandlers(backend: Backend) {
  return {
    listViews: async (_request, context) => ({
      items: await listViews(backend, context),
      nextPageToken: "",
      position: backend.position,
    }),
    rebuildView: async ({ service, view }, context) => ({
      position: await rebuildView(backend, service, view, context),
    }),
  } satisfies Partial<UnaryHandlers>;
}

/** Lists all views; a service that does not answer is listed with that problem. */
export async function listViews(
  backend: Backend,
  context: RequestContext,
): Promise<readonly Plain<View>[]> {
  const others = keepers.map(async (service) => {
    try {
      const { views } = await backend.commonCommand(service, "ListViews", {}, context);
      return views.map((view) => shown(service, view));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return [{ ...shown(service, nothing), problem: error.message }];
    }
  });
  const mine = shown(own, await shownView(backend.parts.view));
  return [mine, ...(await Promise.all(others)).flat()];
}

/** Rebuilds a view. Returns the position of the view that is used meanwhile. */
export async function rebuildView(
  backend: Backend,
  service: string,
  name: string,
  context: RequestContext,
): Promise<string> {
  if (service === own) {
    const { view } = backend.parts;
    if (view.spec.view !== name) throw notFound("view", `${service}.${name}`);
    view.rebuild();
    return backend.position;
  }
  if (!keepers.some((keeper) => keeper === service)) throw notFound("view", `${service}.${name}`);
  const { position } = await backend.commonCommand(service, "RebuildView", { view: name }, context);
  return String(position);
}

const nothing: Plain<ViewState> = {
  view: "",
  version: 0,
  position: 0,
  lag: 0,
  caughtUp: false,
  setAside: [],
};

function shown(service: string, state: Plain<ViewState>): Plain<View> {
  const { view, version, position, lag, caughtUp, buildingAt, setAside } = state;
  return {
    service,
    name: view,
    version,
    position: String(position),
    lag: String(lag),
    caughtUp,
    buildingAt: buildingAt === undefined ? "" : String(buildingAt),
    setAside: setAside.map(({ position: eventPosition, ...row }) => ({
      ...row,
      eventPosition: String(eventPosition),
    })),
    problem: "",
  };
}
