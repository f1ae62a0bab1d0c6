import { Boxes, FlaskConical, House, KeyRound, type LucideIcon } from "lucide-react";

export type Place = {
  readonly to: string;
  readonly title: string;
  readonly icon: LucideIcon;
  /** After `g`. */
  readonly key: string;
  /** In the rail among the pages, or below them. */
  readonly below?: boolean;
};

/** The pages of the rail, in its order. */
export const places: readonly Place[] = [
  { to: "/", title: "Home", icon: House, key: "h" },
  { to: "/experiments", title: "Experiments", icon: FlaskConical, key: "e" },
  { to: "/models", title: "Models", icon: Boxes, key: "m" },
  { to: "/tokens", title: "Tokens", icon: KeyRound, key: "t", below: true },
];
