import { createRootRoute } from "@tanstack/react-router";

/** The route above those of all pages. The app gives it the frame around them: it imports the pages, and no page it. */
export const rootRoute = createRootRoute();
