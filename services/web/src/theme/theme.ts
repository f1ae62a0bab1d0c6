/** The theme: dark, light or the system's. The choice is stored in the browser and applied before the first paint. */
export type Theme = "light" | "dark" | "system";

const key = "trainyard.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(key);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(key, theme);
  apply();
}

/** Applies the choice, and again whenever the system's theme changes. */
export function startTheme(): void {
  apply();
  dark.addEventListener("change", apply);
}

function apply(): void {
  const theme = chosenTheme();
  const isDark = theme === "dark" || (theme === "system" && dark.matches);
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
}
