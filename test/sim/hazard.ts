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
  /** What happens together with the trouble that strikes. */
  readonly onTrouble?: (scene: Scene) => void;
  /** What else is wrong; empty for nothing. */
  readonly check?: (scene: Scene) => readonly string[];
};
