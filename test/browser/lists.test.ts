/** Tests of the pages' frame and of the API's page on an unused cluster, then of Home, experiments and users. */
import "./pages/frame.ts";
import "./pages/reference.ts";
import "./pages/experiments.ts";
import "./pages/experiments-columns.ts";
import "./pages/people.ts";
