import type { PermissionName, Rights } from "@trainyard/access";
import {
  BookOpen,
  Boxes,
  ChartSpline,
  CircleUserRound,
  FlaskConical,
  House,
  KeyRound,
  type LucideIcon,
  SquareTerminal,
  Users,
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
  /** The permission without which the page has nothing to show; absent if it is for everybody. */
  readonly shows?: PermissionName;
  /** The page is about the user, so it needs a cluster with users. */
  readonly ofUser?: boolean;
};

/** The pages of the rail, in order. */
export const places: readonly Place[] = [
  { to: "/", title: "Home", icon: House, key: "h" },
  {
    to: "/experiments",
    title: "Experiments",
    icon: FlaskConical,
    key: "e",
    shows: "experiment_view",
  },
  {
    ...{ to: "/compare", title: "Compare", icon: ChartSpline, key: "c", folded: true },
    shows: "experiment_view",
  },
  { to: "/tasks", title: "Tasks", icon: SquareTerminal, key: "k", shows: "task_view" },
  { to: "/models", title: "Models", icon: Boxes, key: "m", shows: "model_view" },
  { to: "/users", title: "Users", icon: Users, key: "u", below: true },
  {
    ...{ to: "/account", title: "Account", icon: CircleUserRound, key: "i", below: true },
    ofUser: true,
  },
  { to: "/tokens", title: "Tokens", icon: KeyRound, key: "t", below: true },
  { to: "/reference", title: "API", icon: BookOpen, key: "a", below: true },
];

/** Returns the places that lead somewhere: for a caller with these rights, in a cluster with or without users. */
export const placesFor = (rights: Rights, hasUsers: boolean): readonly Place[] =>
  places.filter(
    ({ shows, ofUser = false }) =>
      (hasUsers || !ofUser) && (shows === undefined || rights.anywhere(shows)),
  );
