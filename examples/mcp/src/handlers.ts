import { randomUUID } from 'node:crypto';
import type { Handlers } from '../generated/openapi.ts';

type Note = { id: string; text: string };

/** Notes by the subject of the token. */
const notes = new Map<string, Note[]>();

export const handlers: Handlers = {
  listNotes({ caller: { subject = '' }, query: { limit } }) {
    return { status: 200, body: notes.get(subject)?.slice(0, limit) ?? [] };
  },
  addNote({ caller: { subject = '' }, body: { text } }) {
    const note = { id: randomUUID(), text };
    notes.set(subject, [note, ...(notes.get(subject) ?? [])]);
    return { status: 201, body: note };
  },
  exportNotes({ caller: { subject = '' } }) {
    const texts = notes.get(subject)?.map(({ text }) => text.replaceAll(/\s+/g, ' ')) ?? [];
    return { status: 200, body: texts.join('\n') };
  },
};
