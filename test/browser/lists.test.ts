/** The frame of the pages first, while there is no experiment; then Home and the list of experiments. */
import "./pages/frame.ts";
import "./pages/experiments.ts";
