-- The limits of a session, and the work that counts towards them beside cost and tokens. The log implies all of this.

ALTER TABLE session ADD COLUMN budget TEXT;                        -- the limits, as JSON
ALTER TABLE session ADD COLUMN turns INTEGER NOT NULL DEFAULT 0;   -- Provider Turns that ended
ALTER TABLE session ADD COLUMN worked INTEGER NOT NULL DEFAULT 0;  -- their time in milliseconds

UPDATE session SET turns = t.turns, worked = t.worked
  FROM (
    SELECT m.aggregate AS aggregate, count(*) AS turns, sum(max(0, m.completed - e.time)) AS worked
    FROM message m JOIN event e ON e.aggregate = m.aggregate AND e.seq = m.seq
    WHERE m.settled IS NOT NULL AND m.type = 2
    GROUP BY m.aggregate
  ) t
  WHERE t.aggregate = session.aggregate AND session.forked = 0;
