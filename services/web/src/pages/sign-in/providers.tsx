import type { Plain } from "@trainyard/contracts";
import type { SignInProvider } from "@trainyard/contracts/api";
import type { JSX } from "react";
import { Button } from "../../components/button.tsx";

type Props = {
  readonly of: readonly Plain<SignInProvider>[];
  /** The path of the page to open after the sign-in. */
  readonly back: string;
};

/** A button for each identity provider, which leads to its own sign-in and comes back signed in. */
export function Providers({ of, back }: Props): JSX.Element {
  return (
    <>
      {of.map(({ name, path }) => (
        <Button
          key={path}
          onClick={() => location.assign(`${path}?page=${encodeURIComponent(back)}`)}
        >
          Sign in with {name}
        </Button>
      ))}
    </>
  );
}
