/** Launches that throw, as with a bug of the scheduler: they are set aside, and everything else continues. */
import type { Clock } from "@trainyard/kernel";
import { FoldCache } from "@trainyard/runtime";

export type Throwing = { readonly experiments: readonly string[]; readonly untilMs: number };

/** Breaks the reads for launches of these experiments' runs. Disposing of the result repairs them. */
export function throwing(of: Throwing | undefined, clock: Clock): Disposable {
  const { load } = FoldCache.prototype;
  const broken = async function (this: FoldCache, ...[fold, id]: Parameters<typeof load>) {
    const isOfThem = of?.experiments.includes(id.split(".")[0] ?? "") === true;
    if (isOfThem && clock.monotonicMs() < of.untilMs) {
      if (new Error().stack?.includes("shell/launches.ts") === true) throw new Error("a bug");
    }
    return load.call(this, fold, id);
  };
  if (of !== undefined) FoldCache.prototype.load = broken as typeof load;
  return {
    [Symbol.dispose]: () => {
      FoldCache.prototype.load = load;
    },
  };
}
