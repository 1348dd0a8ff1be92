-- Where a session's tools read files below its Location: instructions that lie there, or on the way
-- there, are told to the model. Operational state beside the Context Epoch, made by no event. A move
-- forgets it.

CREATE TABLE explored (
  aggregate INTEGER NOT NULL REFERENCES aggregate(key) ON DELETE CASCADE,
  directory TEXT NOT NULL,              -- relative to the Location, `/` between the names
  PRIMARY KEY (aggregate, directory)
) WITHOUT ROWID;
