-- What recovery and the inbox ask for, answered without reading history.

ALTER TABLE aggregate ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;  -- inputs that are pending
ALTER TABLE aggregate ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;  -- recoveries since a step ended
ALTER TABLE aggregate ADD COLUMN reverted INTEGER NOT NULL DEFAULT -1; -- newest revert carried out

UPDATE aggregate SET
  pending = (SELECT count(*) FROM input
    WHERE aggregate = key AND promoted IS NULL AND withdrawn IS NULL),
  retries = (SELECT count(*) FROM event
    WHERE aggregate = key AND type = 35 AND event.seq >
      (SELECT ifnull(max(e.seq), -1) FROM event e WHERE e.aggregate = key AND e.type = 23)),
  reverted = (SELECT ifnull(max(event.seq), -1) FROM event WHERE aggregate = key AND type = 40);

-- The newest prompt or answer of a session.
CREATE INDEX message_turn ON message(aggregate, seq) WHERE type IN (1, 2);

-- The greatest key of a session that was removed. None that comes later gets it: whoever still
-- reads the removed one would see the other's log.
CREATE TABLE removed (key INTEGER NOT NULL);
INSERT INTO removed VALUES (0);
