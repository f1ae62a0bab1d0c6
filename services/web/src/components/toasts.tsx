import { X } from "lucide-react";
import {
  createContext,
  type JSX,
  type ReactNode,
  use,
  useCallback,
  useMemo,
  useState,
} from "react";
import { Button } from "../components/button.tsx";
import { shownError } from "../components/problem.ts";
import { clock } from "../data/clock.ts";
import styles from "./toasts.module.css";

type Toast = { readonly id: number; readonly text: string; readonly isError: boolean };

export type Say = {
  /** Shows a success: a sentence that disappears by itself. */
  readonly done: (text: string) => void;
  /** Shows a failure: it stays until it is closed. */
  readonly failed: (error: unknown) => void;
};

const shownMs = 6_000;
const Context = createContext<Say>({ done: () => {}, failed: () => {} });

/** Shows the outcome of a user's action. */
export const useSay = (): Say => use(Context);

export function Toasts({ children }: { readonly children: ReactNode }): JSX.Element {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const close = useCallback(
    (id: number) => setToasts((all) => all.filter((one) => one.id !== id)),
    [],
  );
  const say = useMemo((): Say => {
    const add = (text: string, isError: boolean): void => {
      const id = clock.monotonicMs() + Math.random();
      setToasts((all) =>
        [...all.filter((one) => one.text !== text), { id, text, isError }].slice(-4),
      );
      if (!isError) setTimeout(() => close(id), shownMs);
    };
    return {
      done: (text) => add(text, false),
      failed: (error) => {
        const { what, todo } = shownError(error);
        add(`${what} ${todo}`.trim(), true);
      },
    };
  }, [close]);
  return (
    <Context value={say}>
      {children}
      <div className={styles["toasts"]} role="status" aria-live="polite">
        {toasts.map(({ id, text, isError }) => (
          <div key={id} className={styles["toast"]} data-error={isError}>
            <span>{text}</span>
            <Button look="plain" aria-label="Close the message" onClick={() => close(id)}>
              <X size={14} aria-hidden />
            </Button>
          </div>
        ))}
      </div>
    </Context>
  );
}
