/**
 * Tests of the pages' frame and of the API's page before any experiment exists, then of Home and the experiments, and in
 * the end of the pages of users.
 */
import "./pages/frame.ts";
import "./pages/reference.ts";
import "./pages/experiments.ts";
import "./pages/experiments-columns.ts";
import "./pages/people.ts";
