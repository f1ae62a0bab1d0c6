import { type JSX, type ReactNode, useEffect, useRef, useState } from "react";

/** Parts this far outside the window are mounted already. */
const marginPx = 200;

type Props = {
  readonly className: string | undefined;
  /** The height while the children are not mounted, in pixels. */
  readonly height: number;
  /** The first in view: its read waits for no layout of the page. */
  readonly first: boolean;
  readonly children: ReactNode;
};

/** Mounts its children while it is in view, or close to it. Outside, it keeps the height that they had. */
export function InView({ className, height, first, children }: Props): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const [isNear, setIsNear] = useState(first);
  const [kept, setKept] = useState(height);
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        const near = entries.at(-1)?.isIntersecting === true;
        if (!near && element.offsetHeight > 0) setKept(element.offsetHeight);
        setIsNear(near);
      },
      { rootMargin: `${marginPx}px 0px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={host} className={className} style={isNear ? undefined : { height: `${kept}px` }}>
      {isNear && children}
    </div>
  );
}
