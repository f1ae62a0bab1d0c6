import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Plain, ReplyOf } from "@trainyard/contracts";
import {
  AcceptedSchema,
  DisableAgentSchema,
  EnableAgentSchema,
  RemoveAgentSchema,
  TrustAgentSchema,
} from "@trainyard/contracts/commands";
import { agentList } from "../core/lists/lists.ts";
import { notFound } from "../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../http/request-context.ts";
import type { Backend } from "../shell/backend.ts";
import { rowsPage } from "./lists.ts";
import { shownAgent } from "./shown.ts";

export function agentHandlers(backend: Backend) {
  return {
    listAgents: async (request, context) => {
      const { items, ...page } = await rowsPage(backend, agentList, request, { context });
      return { ...page, items: items.map(shownAgent) };
    },
    trustAgent: async (request, context) => {
      if ((await backend.find("agent", request.name)) === undefined) {
        throw notFound("agent", request.name);
      }
      const { position } = await backend.command(
        "scheduler",
        TrustAgentSchema,
        { agent: request.name },
        AcceptedSchema,
        context,
      );
      await backend.reach(position);
      return { position: String(position || backend.position) };
    },
    disableAgent: ({ name, slot, reason }, context) => {
      const message = { agent: name, slot, reason, drain: false, deadlineMs: 0 };
      return changeAgent(backend, DisableAgentSchema, message, context);
    },
    drainAgent: ({ name, slot, reason, deadlineMs }, context) => {
      const message = { agent: name, slot, reason, drain: true, deadlineMs };
      return changeAgent(backend, DisableAgentSchema, message, context);
    },
    enableAgent: ({ name, slot }, context) =>
      changeAgent(backend, EnableAgentSchema, { agent: name, slot }, context),
    removeAgent: ({ name, reason }, context) =>
      changeAgent(backend, RemoveAgentSchema, { agent: name, reason }, context),
  } satisfies Partial<UnaryHandlers>;
}

/** Asks the scheduler for a change of an agent, and returns the agent with the change. */
async function changeAgent<Request extends DescMessage>(
  backend: Backend,
  request: Request,
  message: Plain<MessageShape<Request>> & { readonly agent: string },
  context: RequestContext,
): Promise<ReplyOf<"disableAgent">> {
  const { position } = await backend.command(
    "scheduler",
    request,
    message,
    AcceptedSchema,
    context,
  );
  await backend.reach(position);
  const agent = shownAgent(await backend.get("agent", message.agent));
  return { position: String(position || backend.position), agent };
}
