-- The numbers of experiments. Drawn per attempt at creating one, outside its commit: gaps are normal.
create sequence if not exists experiments.experiment_ids as bigint minvalue 1 maxvalue 9007199254740991;
