/** A client in a loop, as a process of its own: each connection calls again as soon as it has an answer. */
import { setPriority } from "node:os";
import { Agent, request } from "node:http";

export type FloodOrder = {
  readonly url: string;
  /** Null: each request has a new token that nobody issued. */
  readonly token: string | null;
  readonly connections: number;
};

/** The answers by their status. */
export type FloodReport = { readonly statuses: Readonly<Record<string, number>> };

/** Leaves the processor to the platform, which the campaign measures. */
const niceness = 5;

setPriority(niceness);
let isOver = false;
const statuses: Record<string, number> = {};
let made = 0;

process.on("message", (order: FloodOrder | "stop") => {
  if (order === "stop") {
    isOver = true;
    process.send?.({ statuses } satisfies FloodReport);
    return;
  }
  const agent = new Agent({ keepAlive: true, maxSockets: order.connections });
  for (let n = 0; n < order.connections; n += 1) void loop(order, agent);
});
process.once("disconnect", () => process.exit(0));

async function loop({ url, token }: FloodOrder, agent: Agent): Promise<void> {
  while (!isOver) {
    made += 1;
    const unknown = `ty_${made.toString(16).padStart(16, "0")}_${"A".repeat(43)}`;
    const headers = { authorization: `Bearer ${token ?? unknown}` };
    const status = await new Promise<number>((resolve) => {
      request(`${url}/api/v1/experiments?pageSize=20`, { agent, headers }, (answer) => {
        answer.resume().once("close", () => resolve(answer.statusCode ?? 0));
      })
        .once("error", () => resolve(0))
        .end();
    });
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
}
