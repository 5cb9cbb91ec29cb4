import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { components } from '../generated/openapi.ts';

type Schemas = components['schemas'];
type Row = Record<string, SQLOutputValue>;

const roomOf = ({ id, name, beds, amenities }: Row): Schemas['Room'] => ({
  id: Number(id),
  name: String(name),
  beds: Number(beds),
  amenities: JSON.parse(String(amenities)),
});
const bookingOf = ({ id, room, day, guest }: Row): Schemas['Booking'] => ({
  id: Number(id),
  roomId: Number(room),
  day: String(day),
  guest: String(guest),
});

/** Runs in the threads of the database. Waiting writes share a commit. */
export default function bookings(db: DatabaseSync) {
  db.exec(`
    CREATE TABLE IF NOT EXISTS rooms (
      id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, beds INTEGER NOT NULL,
      amenities TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS bookings (
      id INTEGER PRIMARY KEY AUTOINCREMENT, room INTEGER NOT NULL, day TEXT NOT NULL,
      guest TEXT NOT NULL, UNIQUE (room, day)) STRICT`);
  const insertRoom = db.prepare(
    'INSERT INTO rooms (name, beds, amenities) VALUES (?, ?, ?) RETURNING *',
  );
  const updateRoom = db.prepare(
    'UPDATE rooms SET name = ?, beds = ?, amenities = ? WHERE id = ? RETURNING *',
  );
  const roomById = db.prepare('SELECT * FROM rooms WHERE id = ?');
  const roomsAfter = db.prepare(`
    SELECT * FROM rooms WHERE beds >= ? AND NOT EXISTS (
      SELECT 1 FROM json_each(?) WHERE value NOT IN (SELECT value FROM json_each(amenities))
    ) AND id > ? ORDER BY id LIMIT ?`);
  const deleteRoom = db.prepare(
    'DELETE FROM rooms WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM bookings WHERE room = ?1)',
  );
  const insertBooking = db.prepare(`
    INSERT INTO bookings (room, day, guest) SELECT id, ?2, ?3 FROM rooms WHERE id = ?1
    ON CONFLICT DO NOTHING RETURNING *`);
  const moveBooking = db.prepare(
    'UPDATE OR IGNORE bookings SET day = ?, guest = ? WHERE id = ? RETURNING *',
  );
  const bookingById = db.prepare('SELECT * FROM bookings WHERE id = ?');
  const bookingsAfter = db.prepare(
    'SELECT * FROM bookings WHERE room = ? AND day > ? ORDER BY day LIMIT ?',
  );
  const deleteBooking = db.prepare('DELETE FROM bookings WHERE id = ?');
  const converted = <T>(row: Row | undefined, read: (row: Row) => T) => row && read(row);

  return {
    addRoom: ({ name, beds, amenities = [] }: Schemas['NewRoom']) =>
      roomOf(insertRoom.get(name, beds, JSON.stringify(amenities)) as Row),
    changeRoom: (id: number, { name, beds, amenities = [] }: Schemas['NewRoom']) =>
      converted(updateRoom.get(name, beds, JSON.stringify(amenities), id), roomOf),
    room: (id: number) => converted(roomById.get(id), roomOf),
    rooms: (beds: number, amenities: readonly string[], after: number, limit: number) =>
      roomsAfter.all(beds, JSON.stringify(amenities), after, limit).map(roomOf),
    /** Returns false if the room is booked, or if there is no such room. */
    removeRoom: (id: number) => deleteRoom.run(id).changes === 1,
    /** Returns `undefined` if the room is taken on that day, or if there is no such room. */
    book: (room: number, { day, guest }: Schemas['NewBooking']) =>
      converted(insertBooking.get(room, day, guest), bookingOf),
    /** Returns `undefined` if the room is taken on that day, or if there is no such booking. */
    move: (id: number, { day, guest }: Schemas['NewBooking']) =>
      converted(moveBooking.get(day, guest, id), bookingOf),
    booking: (id: number) => converted(bookingById.get(id), bookingOf),
    bookings: (room: number, after: string, limit: number) =>
      bookingsAfter.all(room, after, limit).map(bookingOf),
    cancel: (id: number) => deleteBooking.run(id).changes === 1,
  };
}
