-- Each entry has the number of its format, see format/stored.rs. The entries of earlier versions have format 0, and
-- stay as they are.

ALTER TABLE event ADD COLUMN format INTEGER NOT NULL DEFAULT 0;
