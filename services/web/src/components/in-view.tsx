import { type JSX, type ReactNode, useEffect, useRef, useState } from "react";

type Props = {
  readonly children: ReactNode;
  /** The expected height of the content in pixels, until it has been measured. */
  readonly height: number;
  /** Whether it is in view at first: then its reads do not wait for the layout of the page. */
  readonly first?: boolean;
};

/** Content is drawn this many pixels before it is in view. */
const ahead = 240;

/** Draws its content only while it is in view, or almost. Outside, it keeps the height that the content had. */
export function InView({ children, height, first = false }: Props): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [isIn, setIsIn] = useState(first);
  const [known, setKnown] = useState(height);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        const last = entries.at(-1);
        if (last === undefined) return;
        if (!last.isIntersecting && last.boundingClientRect.height > 0) {
          setKnown(last.boundingClientRect.height);
        }
        setIsIn(last.isIntersecting);
      },
      { rootMargin: `${ahead}px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} style={isIn ? undefined : { height: known }}>
      {isIn && children}
    </div>
  );
}
