import { LogIdentity, version } from "@trainyard/runtime";
import type { Backend } from "../../backend.ts";
import type { RequestContext, SomeHandlers } from "../../http/request-context.ts";
import type { ProviderSettings } from "../../people/oidc/config.ts";
import { listViews, rebuildView } from "../views/views.ts";
import { tokenHandlers } from "./tokens.ts";
import { verifyLog } from "./verify.ts";

export function clusterHandlers(backend: Backend, oidc: readonly ProviderSettings[]) {
  const identity = new LogIdentity(backend.parts.log);
  return {
    unary: {
      getVersion: async () => ({
        ...{ version, api: "v1", log: await identity.id() },
        signIn: await signInOf(backend, oidc),
      }),
      listParked: (_request, context) => listParked(backend, context),
      retryParked: async (request, context) => {
        const { consumer, key } = request;
        // Only a rebuild of a view applies the events that it has set aside, in their order among all other events.
        const [service = "", view] = consumer.split(".");
        if (view !== undefined)
          return { position: await rebuildView(backend, service, view, context) };
        const { position } = await backend.commonCommand(
          consumer,
          "RetryParked",
          { consumer, key },
          context,
        );
        return { position: String(position) };
      },
      getLogAnchor: async () => {
        const { position, hash } = await backend.parts.log.anchor();
        return { position: String(position), hash, atMs: backend.parts.clock.nowMs() };
      },
      ...tokenHandlers(backend),
    },
    streams: {
      verifyLog: (request, context) => verifyLog(backend, request, context),
    },
  } satisfies SomeHandlers;
}

/** Returns how people sign in: in no way while the cluster has no users. */
async function signInOf({ parts }: Backend, oidc: readonly ProviderSettings[]) {
  const { hasUsers } = await parts.access.state();
  const providers = oidc.map(({ id, name }) => ({ name, path: `/auth/oidc/${id}` }));
  return { passwords: hasUsers, providers: hasUsers ? providers : [] };
}

async function listParked(backend: Backend, context: RequestContext) {
  const rows = await backend.parts.log.parked();
  const items = [];
  for (const row of rows) {
    const [event] = await backend.parts.log.readAll(row.position - 1, 1);
    items.push({
      consumer: row.consumer,
      key: row.key,
      eventPosition: String(row.position),
      type: event?.type ?? "",
      stream: event?.stream ?? "",
      reason: row.reason,
      parkedAtMs: row.parkedAtMs,
    });
  }
  for (const { service, name, setAside } of await listViews(backend, context)) {
    for (const { stream, eventPosition, type, reason, setAsideAtMs } of setAside) {
      const consumer = `${service}.${name}`;
      const parkedAtMs = setAsideAtMs;
      items.push({ consumer, key: stream, eventPosition, type, stream, reason, parkedAtMs });
    }
  }
  return { items, nextPageToken: "", position: backend.position };
}
