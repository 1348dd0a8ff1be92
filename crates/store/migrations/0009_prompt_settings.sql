-- The settings of a prompt apply to its activity, the newest one of the session. The log implies all of this; the
-- columns save a search of the log for every turn.

ALTER TABLE session ADD COLUMN settings INTEGER;   -- admission of the prompt whose settings apply
ALTER TABLE session ADD COLUMN output INTEGER;     -- entry that settled the structured output
ALTER TABLE session ADD COLUMN rejected INTEGER NOT NULL DEFAULT 0; -- outputs that were refused since the last promotion

ALTER TABLE message ADD COLUMN output INTEGER;     -- entry with the structured output of an answer
