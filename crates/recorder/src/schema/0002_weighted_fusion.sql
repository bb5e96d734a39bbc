-- Weighted fusion has a rank and a score beside those of reciprocal rank fusion.
ALTER TABLE retrieval_run_candidates ADD COLUMN weighted_rank INTEGER;
ALTER TABLE retrieval_run_candidates ADD COLUMN weighted_score REAL;
