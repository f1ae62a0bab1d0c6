/**
 * Tests of the pages of single objects: an experiment, a trial, a comparison, a model, a task, its terminal, what it
 * serves and what it keeps.
 */
import "./pages/chart.ts";
import "./pages/experiment.ts";
import "./pages/experiment-lists.ts";
import "./pages/population.ts";
import "./pages/trial.ts";
import "./pages/compare.ts";
import "./pages/progress.ts";
import "./pages/models.ts";
import "./pages/tasks.ts";
import "./pages/task-page.ts";
import "./pages/kept-tasks.ts";
import "./pages/terminal.ts";
