import type { ComponentPropsWithRef, JSX } from "react";
import styles from "./button.module.css";

type Props = ComponentPropsWithRef<"button"> & {
  /**
   * `primary`: the main action; `danger`: it ends or removes something; `plain`: without a border, in bars and rows;
   * `link`: like a link in a text.
   */
  readonly look?: "normal" | "primary" | "danger" | "plain" | "link";
};

/** A button; with only an icon, it needs an `aria-label`. */
export function Button({ look = "normal", className, ...rest }: Props): JSX.Element {
  const names = [styles["button"], className].filter((name) => name !== undefined).join(" ");
  return <button type="button" data-look={look} className={names} {...rest} />;
}
