import type { ErrorComponentProps } from "@tanstack/react-router";
import { type JSX, useEffect, useState } from "react";
import { EmptyState } from "../components/empty-state.tsx";
import { ErrorNote } from "../components/error-note.tsx";
import { Page } from "../components/page/page.tsx";
import { PathLink } from "../components/path-link.tsx";
import { isMissingFile, mayReload, reload } from "./missing-file.ts";

export function NotFound(): JSX.Element {
  return (
    <Page title="Not found">
      <EmptyState title="There is no page at this address.">
        The link may be of another version, or cut off. <PathLink to="/">Go to Home</PathLink>, or
        press Ctrl K and look for it by its name.
      </EmptyState>
    </Page>
  );
}

/** Rendered in the place of a page that threw. */
export function PageError({ error, reset }: ErrorComponentProps): JSX.Element {
  const isMissing = isMissingFile(error);
  const [reloads] = useState(() => isMissing && mayReload());
  useEffect(() => {
    if (reloads) reload();
  }, [reloads]);
  if (reloads) return <PagePending />;
  return (
    <Page title="Error">
      <ErrorNote error={error} onRetry={isMissing ? () => location.reload() : reset} />
    </Page>
  );
}

/** Rendered while the code of a page is loaded. */
export function PagePending(): JSX.Element {
  return <div role="status" aria-label="The page is being loaded" />;
}
