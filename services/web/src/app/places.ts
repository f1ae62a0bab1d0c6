import {
  BookOpen,
  Boxes,
  ChartSpline,
  FlaskConical,
  House,
  KeyRound,
  type LucideIcon,
  SquareTerminal,
} from "lucide-react";

export type Place = {
  readonly to: string;
  readonly title: string;
  readonly icon: LucideIcon;
  /** The key after `g`. */
  readonly key: string;
  /** Shown below the pages of the rail, instead of among them. */
  readonly below?: boolean;
  /** On a phone, whose width has room for six, a line of the menu. */
  readonly folded?: boolean;
};

/** The pages of the rail, in order. */
export const places: readonly Place[] = [
  { to: "/", title: "Home", icon: House, key: "h" },
  { to: "/experiments", title: "Experiments", icon: FlaskConical, key: "e" },
  { to: "/compare", title: "Compare", icon: ChartSpline, key: "c", folded: true },
  { to: "/tasks", title: "Tasks", icon: SquareTerminal, key: "k" },
  { to: "/models", title: "Models", icon: Boxes, key: "m" },
  { to: "/tokens", title: "Tokens", icon: KeyRound, key: "t", below: true },
  { to: "/reference", title: "API", icon: BookOpen, key: "a", below: true },
];
