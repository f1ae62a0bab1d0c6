/** Changes by people to the runs of experiments. */
import type { EventOf } from "@trainyard/contracts";
import type { JobChange } from "@trainyard/scheduling";

export function changeOf(event: EventOf<"JobUpdated" | "JobMoved">): JobChange {
  if (event.type === "JobMoved") return { place: event.data.place };
  const { priority, weight, maxSlots } = event.data;
  return {
    ...(priority === undefined ? {} : { priority }),
    ...(weight === undefined ? {} : { weight }),
    ...(maxSlots === undefined ? {} : { maxSlots: maxSlots === 0 ? null : maxSlots }),
  };
}
