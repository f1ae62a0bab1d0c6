import type { Scene } from "./scene.ts";

/** A script, and the outcome that it must have wherever a trouble strikes. */
export type Hazard = {
  readonly name: string;
  readonly script: (scene: Scene) => Promise<void>;
  /** The expected ends of the first trial and of the experiment. */
  readonly trial: string;
  readonly experiment: string;
  /** True for a script that takes seconds: a short run strikes fewer places. */
  readonly long?: boolean;
  /** A second trouble, which strikes at the same time. */
  readonly onTrouble?: (scene: Scene) => void;
  /** Returns further violations; empty for none. */
  readonly check?: (scene: Scene) => readonly string[];
};
