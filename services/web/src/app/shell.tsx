import { Link, Outlet } from "@tanstack/react-router";
import { FlaskConical, House, Moon, Sun, SunMoon } from "lucide-react";
import { type JSX, useState } from "react";
import { chooseTheme, chosenTheme, type Theme } from "../theme/theme.ts";
import styles from "./shell.module.css";

export function Shell(): JSX.Element {
  return (
    <div className={styles["shell"]}>
      <nav className={styles["rail"]} aria-label="Pages">
        <Link to="/">
          <House size={16} aria-hidden /> Home
        </Link>
        <Link to="/experiments">
          <FlaskConical size={16} aria-hidden /> Experiments
        </Link>
        <ThemeButton />
      </nav>
      <main className={styles["main"]}>
        <Outlet />
      </main>
    </div>
  );
}

const nextTheme: Readonly<Record<Theme, Theme>> = {
  system: "light",
  light: "dark",
  dark: "system",
};
const themeIcons = { system: SunMoon, light: Sun, dark: Moon } as const;

function ThemeButton(): JSX.Element {
  const [theme, setTheme] = useState(chosenTheme);
  const Icon = themeIcons[theme];
  const next = () => {
    chooseTheme(nextTheme[theme]);
    setTheme(nextTheme[theme]);
  };
  return (
    <button type="button" className={styles["theme"]} onClick={next}>
      <Icon size={16} aria-hidden /> Theme: {theme}
    </button>
  );
}
