import { createRootRoute } from "@tanstack/react-router";
import { Shell } from "./shell.tsx";

/** The frame around each page: rail, header, what is said when a page is missing or fails. */
export const shellRoute = createRootRoute({ component: Shell });
