-- The lane of words in the index's own tables has a rank and a score like the other word lanes.
ALTER TABLE retrieval_run_candidates ADD COLUMN impact_rank INTEGER;
ALTER TABLE retrieval_run_candidates ADD COLUMN impact_score REAL;
