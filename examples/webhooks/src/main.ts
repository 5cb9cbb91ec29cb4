import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { loadDocument } from 'openapi-document';
import { serve } from 'spec-first-server';
import { openParcels } from './parcels.ts';

const variables = {
  DATABASE_FILE: { default: 'parcels.db', description: 'the SQLite file', parse: String },
  WEBHOOK_SECRET: {
    default: '',
    description: 'the key of the signatures: 24 to 64 random bytes in base64',
    parse: secretOf,
  },
  WEBHOOK_URL: {
    default: '',
    description: 'the URL that gets all webhooks. By default, none are sent',
    parse: (text: string) => (text === '' ? undefined : new URL(text).href),
  },
  CALLBACK_HOSTS: {
    default: '',
    description: 'the hosts that callbacks are sent to, such as hooks.example,localhost:8080',
    parse: (text: string) => new Set(text.split(',')),
  },
};

function secretOf(text: string): string {
  const { length } = Buffer.from(text, 'base64');
  // Without a key nothing is sent, but the service can be tried.
  if (text === '') return randomBytes(24).toString('base64');
  if (length < 24 || length > 64) throw new Error('24 to 64 bytes in base64');
  return text;
}

const document = await loadDocument(join(import.meta.dirname, '../openapi.yaml'));
await serve({
  variables,
  open: (values, { warn }) =>
    openParcels({
      file: values.DATABASE_FILE,
      document,
      webhookUrl: values.WEBHOOK_URL,
      secret: values.WEBHOOK_SECRET,
      hosts: values.CALLBACK_HOSTS,
      retryAfter: [1, 10, 60, 600, 3600, 6 * 3600, 24 * 3600],
      warn,
    }),
});
