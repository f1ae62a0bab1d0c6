/** The calls about pools. The scheduler answers them, so a list has the state of its last pass. */
import type { Plain, ReplyOf, RequestOf } from "@trainyard/contracts";
import type { Pool } from "@trainyard/contracts/api";
import type { Backend } from "../../backend.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { maskedPools } from "../rights/masks.ts";

export function poolHandlers(backend: Backend) {
  return {
    listPools: async (_request, context) => ({ items: await pools(backend, context) }),
    getPool: async ({ name }, context) => {
      const found = (await pools(backend, context)).find((pool) => pool.name === name);
      if (found === undefined) throw notFound("pool", name);
      return found;
    },
    createPool: (request, context) => configure(backend, request, true, context),
    updatePool: (request, context) => configure(backend, request, false, context),
    removePool: async ({ name }, context) => {
      const { position } = await backend.command(
        "scheduler",
        "RemovePool",
        { pool: name },
        context,
      );
      return { position: String(position || backend.position) };
    },
  } satisfies Partial<UnaryHandlers>;
}

async function pools(backend: Backend, context: RequestContext): Promise<readonly Plain<Pool>[]> {
  const known = await backend.command("scheduler", "GetPools", {}, context);
  const shown = known.pools.map(({ pool, ...facts }) => ({ name: pool, ...facts }));
  return maskedPools(backend, context.rights, shown);
}

async function configure(
  backend: Backend,
  { name, policy, settings }: RequestOf<"updatePool">,
  create: boolean,
  context: RequestContext,
): Promise<ReplyOf<"updatePool">> {
  if (name === "") throw new Problem(400, "invalid_request", "a pool needs a name");
  const { position } = await backend.command(
    "scheduler",
    "ConfigurePool",
    { pool: name, policy: policy || "priority", settings: settings ?? { quotas: [] }, create },
    context,
  );
  return { position: String(position || backend.position) };
}
