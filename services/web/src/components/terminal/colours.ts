/** The colours of a terminal, from those of the theme. */
import type { ITheme } from "@xterm/xterm";
import type { Colours } from "../../theme/colours.ts";

/** The sixteen colours of a terminal, as in the theme as they can be: black and white are its text and its greys. */
export function terminalTheme(colours: Colours): ITheme {
  const { surface, text, muted, grey, line, accent } = colours;
  const { red, green, amber, violet, teal } = colours;
  return {
    background: surface,
    foreground: text,
    cursor: accent,
    cursorAccent: surface,
    selectionBackground: accent,
    selectionForeground: surface,
    selectionInactiveBackground: line,
    black: text,
    white: muted,
    brightBlack: muted,
    brightWhite: text,
    scrollbarSliderBackground: line,
    scrollbarSliderHoverBackground: grey,
    scrollbarSliderActiveBackground: grey,
    ...both({ red, green, yellow: amber, blue: accent, magenta: violet, cyan: teal }),
  };
}

/** The bright colours are the same ones: the theme's are chosen for their contrast. */
function both(plain: Readonly<Record<string, string>>): ITheme {
  const bright: Record<string, string> = {};
  for (const [name, colour] of Object.entries(plain)) {
    bright[`bright${name.charAt(0).toUpperCase()}${name.slice(1)}`] = colour;
  }
  return { ...plain, ...bright };
}
