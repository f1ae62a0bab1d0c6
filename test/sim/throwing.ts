/** Launches that throw, as with a bug of the scheduler: they are set aside, and everything else continues. */
import type { Clock } from "@trainyard/kernel";
import { FoldCache } from "@trainyard/runtime";

export type Throwing = { readonly experiments: readonly string[]; readonly untilMs: number };

type Load = (this: FoldCache, fold: unknown, id: string) => Promise<unknown>;

/** Breaks the reads for launches of these experiments' runs. Disposing of the result repairs them. */
export function throwing(of: Throwing | undefined, clock: Clock): Disposable {
  const { prototype } = FoldCache;
  const sound = Object.getOwnPropertyDescriptor(prototype, "load") ?? {};
  const load = sound.value as Load;
  const broken: Load = async function (fold, id) {
    const isOfThem = of?.experiments.includes(id.split(".")[0] ?? "") === true;
    if (isOfThem && clock.monotonicMs() < of.untilMs) {
      if (new Error().stack?.includes("shell/launches.ts") === true) throw new Error("a bug");
    }
    return load.call(this, fold, id);
  };
  if (of !== undefined) Object.defineProperty(prototype, "load", { ...sound, value: broken });
  return { [Symbol.dispose]: () => void Object.defineProperty(prototype, "load", sound) };
}
