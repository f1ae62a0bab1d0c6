import type { Plain, ReplyOf } from "@trainyard/contracts";
import type { Accepted } from "@trainyard/contracts/commands";
import type { Backend } from "../../backend.ts";
import { notFound } from "../../http/problem.ts";
import type { UnaryHandlers } from "../../http/request-context.ts";
import { agentList } from "../../read-model/core/lists/lists.ts";
import { maskedAgents } from "../rights/masks.ts";
import { rowsPage } from "../lists.ts";
import { shownAgent } from "../shown.ts";

export function agentHandlers(backend: Backend) {
  const command = backend.command.bind(backend);
  return {
    listAgents: async (request, context) => {
      const { items, ...page } = await rowsPage(backend, agentList, request, { context });
      const shown = await maskedAgents(backend, context.rights, items.map(shownAgent));
      return { ...page, ...(await backend.scheduler.age()), items: [...shown] };
    },
    trustAgent: async (request, context) => {
      if ((await backend.find("agent", request.name)) === undefined) {
        throw notFound("agent", request.name);
      }
      const { position } = await command(
        "scheduler",
        "TrustAgent",
        { agent: request.name },
        context,
      );
      await backend.reach(position);
      return { position: String(position || backend.position) };
    },
    disableAgent: async ({ name, slot, reason }, context) => {
      const message = { agent: name, slot, reason, drain: false, deadlineMs: 0 };
      return agentAfter(
        backend,
        name,
        await command("scheduler", "DisableAgent", message, context),
      );
    },
    drainAgent: async ({ name, slot, reason, deadlineMs }, context) => {
      const message = { agent: name, slot, reason, drain: true, deadlineMs };
      return agentAfter(
        backend,
        name,
        await command("scheduler", "DisableAgent", message, context),
      );
    },
    enableAgent: async ({ name, slot }, context) => {
      const message = { agent: name, slot };
      return agentAfter(backend, name, await command("scheduler", "EnableAgent", message, context));
    },
    removeAgent: async ({ name, reason, force }, context) => {
      const before = await backend.find("agent", name);
      const message = { agent: name, reason, force };
      const { position } = await command("scheduler", "RemoveAgent", message, context);
      await backend.reach(position);
      const after = (await backend.find("agent", name)) ?? before;
      const shown =
        after === undefined ? {} : { agent: shownAgent({ ...after, state: "REMOVED" }) };
      return { position: String(position || backend.position), ...shown };
    },
  } satisfies Partial<UnaryHandlers>;
}

/** Returns an agent with the change that the scheduler has accepted. */
async function agentAfter(
  backend: Backend,
  name: string,
  { position }: Plain<Accepted>,
): Promise<ReplyOf<"disableAgent">> {
  await backend.reach(position);
  const agent = shownAgent(await backend.get("agent", name));
  return { position: String(position || backend.position), agent };
}
