import { Outlet, useRouter, useRouterState } from "@tanstack/react-router";
import { CircleQuestionMark, Ellipsis, LogOut, Moon, Search, Sun, SunMoon } from "lucide-react";
import { type JSX, useState } from "react";
import { Mark } from "../components/mark.tsx";
import { Menu } from "../components/menu.tsx";
import { VerbsProvider } from "../components/page/verbs.tsx";
import { PathLink } from "../components/path-link.tsx";
import { Toasts } from "../components/toasts.tsx";
import { useSignOut } from "../components/use-sign-out.ts";
import { useCall } from "../data/calls.ts";
import { useMe } from "../data/me.ts";
import { chooseTheme, chosenTheme, type Theme } from "../theme/theme.ts";
import { HelpSheet } from "./help-sheet.tsx";
import { Palette } from "./palette.tsx";
import type { Place } from "./places.ts";
import styles from "./shell.module.css";
import { useKeys } from "./use-keys.ts";
import { usePlaces } from "./use-places.ts";

type Shown = "nothing" | "help" | "palette";

export function Shell(): JSX.Element {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <Toasts>
      {path === "/sign-in" ? (
        <main className={styles["main"]}>
          <Outlet />
        </main>
      ) : (
        <VerbsProvider>
          <Frame path={path} />
        </VerbsProvider>
      )}
    </Toasts>
  );
}

function Frame({ path }: { readonly path: string }): JSX.Element {
  const [shown, setShown] = useState<Shown>("nothing");
  useKeys(setShown);
  const places = usePlaces();
  const close = (): void => setShown("nothing");
  return (
    <div className={styles["shell"]}>
      <a className={styles["skip"]} href="#main">
        Skip to the page
      </a>
      <nav className={styles["rail"]} aria-label="Pages">
        <PathLink to="/" className={styles["product"]}>
          <Mark size={20} />
          <span>Trainyard</span>
        </PathLink>
        {places
          .filter(({ below }) => below !== true)
          .map((place) => (
            <RailLink key={place.to} place={place} path={path} />
          ))}
        <RailButton icon={Search} title="Go to" keys="Ctrl K" onClick={() => setShown("palette")} />
        <div className={styles["below"]}>
          {places
            .filter(({ below }) => below === true)
            .map((place) => (
              <RailLink key={place.to} place={place} path={path} />
            ))}
          <RailButton
            icon={CircleQuestionMark}
            title="Keys"
            keys="?"
            onClick={() => setShown("help")}
          />
          <ThemeButton />
          <SignOutButton />
        </div>
        <MoreMenu />
      </nav>
      <main id="main" tabIndex={-1} className={styles["main"]}>
        <Outlet />
      </main>
      {shown === "help" && <HelpSheet onClose={close} />}
      {shown === "palette" && <Palette onClose={close} />}
    </div>
  );
}

function RailLink({ place, path }: { readonly place: Place; readonly path: string }): JSX.Element {
  const { to, title, icon: Icon, key, folded } = place;
  const isHere = to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`);
  return (
    <PathLink
      to={to}
      className={styles["item"]}
      title={`${title} (g ${key})`}
      data-folded={folded}
      {...(isHere ? { "aria-current": "page" } : {})}
    >
      <Icon size={16} aria-hidden />
      <span>{title}</span>
    </PathLink>
  );
}

function RailButton(props: {
  readonly icon: typeof Search;
  readonly title: string;
  readonly keys?: string;
  readonly onClick: () => void;
}): JSX.Element {
  const { icon: Icon, title, keys, onClick } = props;
  return (
    <button type="button" className={styles["item"]} onClick={onClick} title={title}>
      <Icon size={16} aria-hidden />
      <span>{title}</span>
      {keys !== undefined && <kbd aria-hidden>{keys}</kbd>}
    </button>
  );
}

const nextTheme: Readonly<Record<Theme, Theme>> = {
  system: "light",
  light: "dark",
  dark: "system",
};
const themeIcons = { system: SunMoon, light: Sun, dark: Moon } as const;

function useTheme(): { readonly theme: Theme; readonly next: () => void } {
  const [theme, setTheme] = useState(chosenTheme);
  const next = (): void => {
    chooseTheme(nextTheme[theme]);
    setTheme(nextTheme[theme]);
  };
  return { theme, next };
}

function ThemeButton(): JSX.Element {
  const { theme, next } = useTheme();
  return <RailButton icon={themeIcons[theme]} title={`Theme: ${theme}`} onClick={next} />;
}

/** A link made by someone else signs in as that person, so the page shows whose session it is. */
function useSignOutTitle(): string {
  const { data } = useCall("getCurrentSession", {});
  const user = useMe().data?.user?.name ?? data?.owner;
  return `Sign out${user === undefined ? "" : ` ${user}`}`;
}

function SignOutButton(): JSX.Element {
  return <RailButton icon={LogOut} title={useSignOutTitle()} onClick={useSignOut()} />;
}

/** On a phone: the lower part of the rail, with the names of its lines, so that no icon alone signs out. */
function MoreMenu(): JSX.Element {
  const { history } = useRouter();
  const { theme, next } = useTheme();
  const title = useSignOutTitle();
  const leave = useSignOut();
  const further = usePlaces().filter(({ below, folded }) => below === true || folded === true);
  return (
    <div className={styles["more"]}>
      <Menu
        align="end"
        trigger={
          <button type="button" className={styles["item"]}>
            <Ellipsis size={16} aria-hidden />
            <span>More</span>
          </button>
        }
        groups={[
          further.map(({ title: name, to }) => ({ title: name, onSelect: () => history.push(to) })),
          [{ title: `Theme: ${theme}`, onSelect: next }],
          [{ title, onSelect: leave }],
        ]}
      />
    </div>
  );
}
