/** Tests of the pages of single objects: an experiment, a trial, a model, a task, what a task serves. */
import "./pages/experiment.ts";
import "./pages/population.ts";
import "./pages/trial.ts";
import "./pages/progress.ts";
import "./pages/models.ts";
import "./pages/tasks.ts";
import "./pages/task-page.ts";
