/** The API as a server that the agent needs: checkpoints and tunnels go through it. */
import { Fault } from "@trainyard/kernel";
import type { Peer } from "@trainyard/runtime";
import { limits } from "../limits.ts";

export function apiPeer(apiUrl: string): Peer {
  const url = `${apiUrl.replace(/\/+$/, "")}/livez`;
  const answers = async (signal: AbortSignal): Promise<void> => {
    const within = AbortSignal.any([signal, AbortSignal.timeout(limits.apiAnswerMs)]);
    const response = await fetch(url, { redirect: "manual", signal: within });
    await response.body?.cancel();
    // A proxy without the path answers 404, and one without a gateway behind it 502 to 504.
    if (response.status > 500)
      throw new Fault("api_away", `it answers ${response.status}`, { retry: "later" });
  };
  return { name: `the API at ${apiUrl}`, link: "api", everyMs: limits.apiLookMs, answers };
}
