ALTER TABLE notes ADD COLUMN tag text;
CREATE INDEX notes_by_tag ON notes (tag, id);
