import { useRouter } from "@tanstack/react-router";
import type { ComponentPropsWithRef, JSX } from "react";

type Props = ComponentPropsWithRef<"a"> & {
  /** A path on this site, with its search. */
  readonly to: string;
};

/** A link to a path that is known only as text. */
export function PathLink({ to, onClick, ...rest }: Props): JSX.Element {
  const { history } = useRouter();
  return (
    <a
      href={to}
      {...rest}
      onClick={(event) => {
        onClick?.(event);
        const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
        if (event.defaultPrevented || !isPlain || event.button !== 0) return;
        event.preventDefault();
        history.push(to);
      }}
    />
  );
}
