-- Whether loose_keys has keys of the run: a run that has none, which is nearly every one, is not asked for.
alter table metrics.runs add column has_loose_keys boolean not null default false;
update metrics.runs set has_loose_keys = true
where exists (select from metrics.loose_keys where (loose_keys.trial, loose_keys.run) = (runs.trial, runs.run));
