/** A stream to the holder of a task, opened as the command line does. */
import { systemClock } from "@trainyard/kernel/system-clock";
import type { ByteStream } from "@trainyard/terminal";
import { byteStreamOf, dialWebSocket } from "@trainyard/tunnel";
import type { World } from "../world/world.ts";

export async function dialTask(
  world: World,
  task: string,
  signal: AbortSignal,
): Promise<ByteStream> {
  const { api, token } = world.access;
  const duplex = await dialWebSocket(`${api}/api/v1/tasks/${task}/streams/terminal`, {
    clock: systemClock,
    signal,
    headers: { authorization: `Bearer ${token}` },
    deadLooks: 4,
  });
  return byteStreamOf(duplex);
}
