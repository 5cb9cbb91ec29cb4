import { randomUUID } from 'node:crypto';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import type { Document } from 'openapi-document';
import { HttpError } from 'spec-first-server';
import type { Handlers, Parcel } from '../generated/openapi.ts';
import { type DeliveryOptions, openDeliveries } from './deliveries.ts';

export interface ParcelOptions extends DeliveryOptions {
  readonly file: string;
  readonly document: Document;
  /** The URL of the webhook `parcelDelivered`. By default it is not sent. */
  readonly webhookUrl?: string | undefined;
}

const parcelOf = ({ id, content, isDelivered }: Record<string, SQLOutputValue>): Parcel => ({
  id: String(id),
  content: String(content),
  isDelivered: isDelivered === 1,
});

export function openParcels({ file, document, webhookUrl, ...options }: ParcelOptions) {
  const db = new DatabaseSync(file);
  db.exec(`CREATE TABLE IF NOT EXISTS parcels (
    id TEXT PRIMARY KEY, content TEXT NOT NULL, callbackUrl TEXT,
    isDelivered INTEGER NOT NULL DEFAULT 0) STRICT`);
  const insert = db.prepare(
    'INSERT INTO parcels (id, content, callbackUrl) VALUES (?, ?, ?) RETURNING *',
  );
  const parcelById = db.prepare('SELECT * FROM parcels WHERE id = ?');
  const setDelivered = db.prepare(
    'UPDATE parcels SET isDelivered = 1 WHERE id = ? AND isDelivered = 0 RETURNING *',
  );
  const deliveries = openDeliveries(db, document, options);

  /** Does nothing if there is no such parcel, or if it was delivered before. */
  function deliver(id: string): void {
    const row = setDelivered.get(id);
    if (row === undefined) return;
    const parcel = parcelOf(row);
    if (row.callbackUrl !== null)
      deliveries.add('createParcel.delivered', String(row.callbackUrl), parcel);
    if (webhookUrl !== undefined) deliveries.add('parcelDelivered', webhookUrl, parcel);
  }

  const handlers: Handlers = {
    createParcel({ body: { content, callbackUrl = null } }) {
      if (callbackUrl !== null && !deliveries.accepts(callbackUrl))
        throw new HttpError(403, 'callbacks are not sent to the host of callbackUrl');
      const row = insert.get(randomUUID(), content, callbackUrl);
      if (row === undefined) throw new Error('the parcel was not stored');
      return { status: 201, body: parcelOf(row) };
    },

    deliverParcel({ path: { parcelId } }) {
      db.exec('BEGIN IMMEDIATE');
      try {
        deliver(parcelId);
        db.exec('COMMIT');
      } catch (error) {
        db.exec('ROLLBACK');
        throw error;
      }
      deliveries.send();
      const row = parcelById.get(parcelId);
      if (row === undefined) throw new HttpError(404, 'there is no such parcel');
      return { status: 200, body: parcelOf(row) };
    },
  };
  return {
    handlers,
    location: file,
    async close() {
      await deliveries.close();
      db.close();
    },
  };
}
