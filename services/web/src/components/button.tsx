import type { ComponentPropsWithRef, JSX } from "react";
import styles from "./button.module.css";

type Props = ComponentPropsWithRef<"button"> & {
  /**
   * primary: the one thing to do here; danger: it takes something away; plain: without a border, in bars and rows;
   * link: as a link in a text.
   */
  readonly look?: "normal" | "primary" | "danger" | "plain" | "link";
};

/** A button; with only an icon in it, it needs an `aria-label`. */
export function Button({ look = "normal", className, ...rest }: Props): JSX.Element {
  const names = [styles["button"], className].filter((name) => name !== undefined).join(" ");
  return <button type="button" data-look={look} className={names} {...rest} />;
}
