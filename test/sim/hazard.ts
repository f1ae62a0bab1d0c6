import type { Scene } from "./scene.ts";

/** A script, and what holds after it wherever a trouble strikes. */
export type Hazard = {
  readonly name: string;
  readonly script: (scene: Scene) => Promise<void>;
  /** How the first trial and the experiment end. */
  readonly trial: string;
  readonly experiment: string;
  /** It takes seconds: a short run strikes fewer places. */
  readonly long?: boolean;
  /** A trouble that strikes at the same time. */
  readonly onTrouble?: (scene: Scene) => void;
  /** Other mistakes; empty for none. */
  readonly check?: (scene: Scene) => readonly string[];
};
