import type { ServerResponse } from "node:http";

/**
 * Disconnects a client that takes no byte of its download for a time, until it is disposed: downloads are counted while
 * they are open, so stalled ones would keep others out.
 */
export function cutWhenStalled(raw: ServerResponse, stalledMs: number): Disposable {
  const { socket } = raw;
  const cut = (): void => void raw.destroy();
  socket?.setTimeout(stalledMs, cut);
  return {
    [Symbol.dispose]: () => {
      // The server sets the time of the idle connection itself.
      socket?.off("timeout", cut);
    },
  };
}
