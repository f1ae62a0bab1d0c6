import type { Client } from "@trainyard/client";
import { eventually } from "./eventually.ts";

/** Returns the grant of a run, once the log has it: what its token names. */
export async function grantOf(client: Client, run: string) {
  const asked = { object: "run", id: run, types: ["AllocationGranted"] };
  let [grantPosition, grantId] = [0, ""];
  await eventually(`run ${run} is granted`, async () => {
    const [granted] = (await client.call("listEvents", asked)).items;
    if (granted === undefined) return false;
    [grantPosition, grantId] = [Number(granted.sequence), granted.id];
    return true;
  });
  return { allocation: run, grantPosition, grantId };
}
