import type { JSX } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import styles from "./shown-once.module.css";
import { useSay } from "./toasts.tsx";

type Props = {
  readonly title: string;
  /** The use of the text, and that it is not shown again. */
  readonly description: string;
  readonly secret: string;
  /** The noun of the secret, such as "token". */
  readonly noun: string;
  readonly onClose: () => void;
};

/** A secret that no other answer has: a token or a password. */
export function ShownOnce({ title, description, secret, noun, onClose }: Props): JSX.Element {
  const say = useSay();
  const copy = (): void => {
    navigator.clipboard
      .writeText(secret)
      .then(() => say.done(`The ${noun} is copied.`), say.failed);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description={description}
      actions={
        <>
          <Button onClick={copy}>Copy</Button>
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <code className={styles["secret"]}>{secret}</code>
    </Dialog>
  );
}
