import type { JSX } from "react";

/** The product's mark, a track. `public/icon.svg` is the same drawing for the browser's tab. */
export function Mark({ size }: { readonly size: number }): JSX.Element {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" fill="none" aria-hidden>
      <rect width="16" height="16" rx="3.5" fill="var(--accent)" />
      <path
        d="M4.4 13.5 6.8 2.5M11.6 13.5 9.2 2.5M2.9 11.6h10.2M4.4 8.2h7.2M5.4 5.2h5.2"
        stroke="var(--on-accent)"
        strokeWidth="1.4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
