import { Socket } from "node:net";
import { runtimeLimits } from "@trainyard/runtime";
import type { FastifyInstance } from "fastify";

/**
 * Disconnects a client that takes no byte of its answer for a time: an unread answer is in memory, and a download is
 * counted while it is open. Streams of events have a limit of their own, and so have connections within a WebSocket.
 */
export function cutStalledAnswers(
  server: FastifyInstance,
  stalledMs: number = runtimeLimits.answerStalledMs,
): void {
  server.addHook("onSend", async (_request, { raw }) => {
    const { socket } = raw;
    if (!(socket instanceof Socket)) return;
    const cut = (): void => void raw.destroy();
    socket.setTimeout(stalledMs, cut);
    // The server sets the time of the idle connection itself.
    raw.once("close", () => socket.off("timeout", cut));
  });
}
