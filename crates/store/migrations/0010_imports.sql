-- The entries of a log that an import replayed, as ranges. What they say about permissions can only restrict, and no
-- recovery continues their work.

CREATE TABLE imported (
  aggregate INTEGER NOT NULL REFERENCES aggregate(key) ON DELETE CASCADE,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (aggregate, first)
) WITHOUT ROWID;

-- The choices of a session that come from an import and that no caller has confirmed, as bits: 1 directory, 2 agent,
-- 4 model, 8 budget.

ALTER TABLE session ADD COLUMN unconfirmed INTEGER NOT NULL DEFAULT 0;
